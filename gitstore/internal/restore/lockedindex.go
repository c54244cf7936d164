package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"git-checkpoint/gitstore/internal/index"

	"github.com/go-git/go-git/v5/plumbing"
)

// A lockedIndex is the staging area as a restore found it: the index, read,
// and as a tree. While it is locked no git writes it.
type lockedIndex struct {
	s    *Worktree
	x    *index.Index
	done func()
	tree plumbing.Hash // of what is staged, among the site's objects
	file string        // the index, symlinks resolved
	lock string        // git's lock, "" while it is not ours
}

// openLockedIndex reads the staging area, under git's lock where it is going to be
// written. It fails with *LockedError when another git holds the lock.
func (s *Worktree) openLockedIndex(ctx context.Context, write bool) (*lockedIndex, error) {
	a := s.lockedIndexFiles()
	if write {
		if err := a.takeLock(); err != nil {
			return nil, err
		}
	}
	var err error
	if a.x, a.done, err = s.OpenIndex(ctx); err != nil {
		a.close()
		return nil, err
	}
	if a.tree, err = a.x.WriteTree(s.Objects, s.Objects); err != nil {
		a.close()
		return nil, fmt.Errorf("read index: %w", err)
	}
	return a, nil
}

// lockedIndexFiles is where the staging area is, unread.
func (s *Worktree) lockedIndexFiles() *lockedIndex {
	a := &lockedIndex{s: s, file: s.Index}
	if resolved, err := filepath.EvalSymlinks(a.file); err == nil {
		a.file = resolved
	}
	return a
}

func (a *lockedIndex) close() {
	if a.done != nil {
		a.done()
		a.done = nil
	}
	a.freeLock()
}

// The lock of the index is git's, <index>.lock: a second name of a file of
// ours, so that one that a killed restore left is known as ours, and can be
// taken over. The caller holds the worktree's restore lock.
func (a *lockedIndex) held() string   { return filepath.Join(a.s.State, "index.held") }
func (a *lockedIndex) copied() string { return filepath.Join(a.s.State, "index") }

func (a *lockedIndex) takeLock() error {
	a.freeStale()
	lock := a.file + ".lock"
	if err := os.WriteFile(a.held(), fmt.Appendf(nil, "git-checkpoint %d\n", os.Getpid()), 0o666); err != nil {
		return fmt.Errorf("lock index: %w", err)
	}
	err := os.Link(a.held(), lock)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = createLock(lock) // a file system without hard links
	}
	if errors.Is(err, fs.ErrExist) {
		return &LockedError{Lock: lock}
	}
	if err != nil {
		return fmt.Errorf("lock index: %w", err)
	}
	a.lock = lock
	return nil
}

func createLock(name string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	return f.Close()
}

// isStale reports whether the lock is one of ours.
func (a *lockedIndex) isStale() bool {
	ours, err := os.Lstat(a.held())
	if err != nil {
		return false
	}
	now, err := os.Lstat(a.file + ".lock")
	return err == nil && os.SameFile(ours, now)
}

// freeStale removes what a killed restore left.
func (a *lockedIndex) freeStale() {
	if a.isStale() {
		os.Remove(a.file + ".lock")
	}
	for _, name := range []string{a.held(), a.copied(), a.copied() + ".lock"} {
		os.Remove(name)
	}
}

func (a *lockedIndex) freeLock() {
	if a.lock == "" {
		return
	}
	if err := os.Remove(a.lock); err == nil || errors.Is(err, fs.ErrNotExist) {
		os.Remove(a.held())
	} // else the next restore knows the lock as ours
	a.lock = ""
}

// replace puts the copy in the place of the index. A kill leaves the old one
// or the new one, and a lock that is known as ours.
func (a *lockedIndex) replace() error {
	if err := os.Rename(a.copied(), a.file); err != nil {
		if !errors.Is(err, syscall.EXDEV) {
			return fmt.Errorf("write index: %w", err)
		}
		// GIT_INDEX_FILE on another file system: through a file beside it.
		near := a.file + ".git-checkpoint"
		defer os.Remove(near)
		if err := errors.Join(copyFile(a.copied(), near), os.Remove(a.copied())); err != nil {
			return fmt.Errorf("write index: %w", err)
		}
		return os.Rename(near, a.file)
	}
	return nil
}

// copyFile copies a file with its permissions and its date: git compares the
// dates of files with that of the index, to tell which entries it cannot
// trust. A missing file stays missing.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close(), os.Chtimes(to, info.ModTime(), info.ModTime()))
}
