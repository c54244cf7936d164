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

// A lockedIndex is the index read by a restore, with its tree. While locked, no git
// process can write it.
type lockedIndex struct {
	s    *Worktree
	x    *index.Index
	done func()
	tree plumbing.Hash // tree of staged content, stored in the worktree's objects
	file string        // index path with resolved symlinks
	lock string        // path of git's lock file, "" if not locked by this process
}

// openLockedIndex reads the index. If write is set, it takes git's index lock first. It
// returns a *LockedError if another git process holds the lock.
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

// lockedIndexFiles returns the index paths without reading the index.
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

// The index lock is git's <index>.lock, created as a hard link to a file in State. A lock
// left by a killed restore can therefore be recognized and removed. Callers hold the
// worktree's restore lock.
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
		err = createLock(lock) // file system without hard links
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

// isStale reports whether a restore of this program created the existing lock.
func (a *lockedIndex) isStale() bool {
	ours, err := os.Lstat(a.held())
	if err != nil {
		return false
	}
	now, err := os.Lstat(a.file + ".lock")
	return err == nil && os.SameFile(ours, now)
}

// freeStale removes files of a killed restore.
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
	} // otherwise the next restore recognizes the lock as its own
	a.lock = ""
}

// replace renames the copy to the index. After a kill, either the old or the new index
// exists, and the lock is recognizable.
func (a *lockedIndex) replace() error {
	if err := os.Rename(a.copied(), a.file); err != nil {
		if !errors.Is(err, syscall.EXDEV) {
			return fmt.Errorf("write index: %w", err)
		}
		// If GIT_INDEX_FILE is on another file system, copy to a temporary file beside it
		// first.
		near := a.file + ".git-checkpoint"
		defer os.Remove(near)
		if err := errors.Join(copyFile(a.copied(), near), os.Remove(a.copied())); err != nil {
			return fmt.Errorf("write index: %w", err)
		}
		return os.Rename(near, a.file)
	}
	return nil
}

// copyFile copies a file with permissions and mtime. Git compares file times with the
// index's mtime to detect racily clean entries. If the source is missing, copyFile
// creates no file.
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
