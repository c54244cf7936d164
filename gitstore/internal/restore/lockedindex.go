package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A lockedIndex is the index read by a restore. While locked, no git process can write it.
type lockedIndex struct {
	s    *worktree
	file string // index path with resolved symlinks
	lock string // path of git's lock file, "" if not locked by this process

	list     indexList
	intended []string        // paths of git add -N
	head     plumbing.Hash   // tree of HEAD, zero on an unborn branch
	changes  []git.RawChange // from HEAD to the index, where unmerged paths and those of git add -N are missing
}

// openLockedIndex reads the index. If write is set, it takes git's index lock first. It
// returns a *RefusedError if another git process holds the lock.
func (s *worktree) openLockedIndex(ctx context.Context, write bool) (*lockedIndex, error) {
	a := s.lockedIndexFiles()
	if write {
		if err := a.takeLock(); err != nil {
			return nil, err
		}
	}
	err := a.read(ctx)
	if err != nil {
		err = fmt.Errorf("read index: %w", err)
	} else if root, failed := openFolder(s.repo.Info.Root); failed != nil {
		err = fmt.Errorf("open worktree: %w", failed)
	} else {
		s.in = &places{root: root, dir: root}
	}
	if err != nil {
		a.freeLock()
		return nil, err
	}
	return a, nil
}

// lockedIndexFiles returns the index paths without reading the index.
func (s *worktree) lockedIndexFiles() *lockedIndex {
	a := &lockedIndex{s: s, file: s.repo.Info.Index}
	if resolved, err := filepath.EvalSymlinks(a.file); err == nil {
		a.file = resolved
	}
	return a
}

func (a *lockedIndex) close() {
	a.s.in.close()
	a.freeLock()
}

// copied is beside the index, so that it can replace the index by a rename.
func (a *lockedIndex) copied() string { return a.file + ".git-checkpoint" }

// lockText begins the content of the lock. An index of git, which git writes to its lock, begins with
// other bytes.
const lockText = "git-checkpoint "

// hardLink is a variable for tests.
var hardLink = os.Link

// takeLock creates git's <index>.lock, as a hard link to a file with its content, or without hard links
// in the usual way. The content shows the lock of a killed restore, which can be removed: callers hold the
// worktree's restore lock.
func (a *lockedIndex) takeLock() error {
	a.freeStale()
	lock := a.file + ".lock"
	err := os.WriteFile(a.copied(), fmt.Appendf(nil, "%s%d\n", lockText, os.Getpid()), 0o666)
	if err == nil {
		a.s.repo.Objects.Share(a.copied())
		err = hardLink(a.copied(), lock)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			var f *os.File
			if f, err = os.OpenFile(lock, os.O_CREATE|os.O_EXCL, 0o666); err == nil {
				err = errors.Join(f.Close(), os.Rename(a.copied(), lock))
			}
		}
		os.Remove(a.copied())
	}
	if errors.Is(err, fs.ErrExist) {
		return &repo.RefusedError{Reason: fmt.Sprintf("the index is locked by another git process (%s)", lock)}
	}
	if err != nil {
		return fmt.Errorf("lock index: %w", err)
	}
	a.lock = lock
	return nil
}

// isStale reports whether a restore of this program created the existing lock.
func (a *lockedIndex) isStale() bool {
	lock, err := os.ReadFile(a.file + ".lock")
	return err == nil && bytes.HasPrefix(lock, []byte(lockText))
}

func (a *lockedIndex) freeStale() {
	if a.isStale() {
		os.Remove(a.file + ".lock")
	}
	for _, name := range []string{a.copied(), a.copied() + ".lock"} {
		os.Remove(name)
	}
}

// freeLock removes the lock. If that fails, the next restore recognizes the lock as its own.
func (a *lockedIndex) freeLock() {
	if a.lock != "" {
		os.Remove(a.lock)
		a.lock = ""
	}
}

// A formerIndex is an index file as it was before an operation.
type formerIndex struct {
	data []byte // nil if the entry has no index file
	time time.Time
}

// edit changes index entries in a copy and then replaces the index. Git writes the copy, and then the
// stat data of files that match their entries. If the edits lead to a former index, edit writes the
// bytes of that one, with its flags and its notes about resolved conflicts.
func (a *lockedIndex) edit(ctx context.Context, edits []Step, former formerIndex) error {
	if len(edits) == 0 {
		return nil
	}
	defer os.Remove(a.copied())
	g := a.git().OnIndex(a.copied(), a.s.repo.Config...).With("GIT_LITERAL_PATHSPECS=1")
	isFormer, err := a.copyFormer(ctx, g, edits, former)
	if err != nil {
		return fmt.Errorf("write the former index: %w", err)
	}
	if !isFormer {
		if err := fsutil.CopyWithTime(a.file, a.copied()); err != nil {
			return fmt.Errorf("copy index: %w", err)
		}
		if err := writeEntries(ctx, g, edits); err != nil {
			return fmt.Errorf("write index: %w", err)
		}
	}
	refresh(ctx, g, edits)
	// After a kill, either the old or the new index exists, and the lock is recognizable.
	if err := os.Rename(a.copied(), a.file); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	return nil
}

// copyFormer writes a former index to the copy, and reports whether it differs from the present one
// only in the entries that the edits change.
func (a *lockedIndex) copyFormer(ctx context.Context, g git.Git, edits []Step, former formerIndex) (bool, error) {
	if former.data == nil {
		return false, nil
	}
	err := fsutil.CopyWithTime(a.file, a.copied()) // with its mode
	if err == nil {
		err = os.WriteFile(a.copied(), former.data, 0o666)
	}
	if err != nil {
		return false, err
	}
	// Git compares the times of files with that of the index.
	if err := os.Chtimes(a.copied(), former.time, former.time); err != nil {
		return false, fsutil.IgnoreRefused(err)
	}
	list, err := listIndex(ctx, g)
	if err != nil {
		return false, ctx.Err() // git has expired the shared part of a split index
	}
	changed := map[string]bool{}
	for _, e := range edits {
		changed[e.Path] = changed[e.Path] || e.Index
	}
	isChanged := func(line string) bool { return changed[pathOf(line)] }
	return slices.Equal(slices.DeleteFunc(list, isChanged), slices.DeleteFunc(slices.Clone(a.list), isChanged)), nil
}

// writeEntries writes entries by hash, and sets their flags. It first removes all paths, so that a file
// can replace a directory and vice versa. Git add refuses intent-to-add entries for paths without a file,
// and git reset makes such an entry of each path that the tree lacks.
func writeEntries(ctx context.Context, g git.Git, edits []Step) error {
	var gone, come, sparse, assume, intended bytes.Buffer
	for _, e := range edits {
		if !e.Index {
			continue
		}
		fmt.Fprintf(&gone, "0 %s\t%s\x00", plumbing.ZeroHash, e.Path)
		for stage, f := range e.After.Index {
			switch f {
			case Side{}:
			case contents.Intended:
				fmt.Fprintf(&come, "100644 %s 0\t%s\x00", emptyBlob, e.Path)
				intended.WriteString(e.Path + "\x00")
			default:
				fmt.Fprintf(&come, "%o %s %d\t%s\x00", f.Mode, f.Hash, stage, e.Path)
			}
		}
		switch {
		case e.After.Index[0] == Side{} || e.After.Index[0] == contents.Intended:
		case e.Sparse:
			sparse.WriteString(e.Path + "\x00")
		case e.Assume:
			assume.WriteString(e.Path + "\x00")
		}
	}
	gone.Write(come.Bytes())
	for _, run := range []struct {
		in   *bytes.Buffer
		args []string
	}{
		{&gone, []string{"update-index", "-z", "--index-info"}},
		{&sparse, []string{"update-index", "-z", "--skip-worktree", "--stdin"}},
		{&assume, []string{"update-index", "-z", "--assume-unchanged", "--stdin"}},
		{&intended, []string{"reset", "-q", "-N", trees.Empty.String(), "--pathspec-from-file=-", "--pathspec-file-nul"}},
	} {
		if run.in.Len() == 0 {
			continue
		}
		if _, err := g.Pipe(ctx, run.in.Bytes(), run.args...); err != nil {
			return err
		}
	}
	return nil
}

// refresh updates the stat data of entries. It is only an optimization, so errors are ignored.
func refresh(ctx context.Context, g git.Git, edits []Step) {
	var paths []string
	for _, e := range edits {
		if e.entry() != (Stages{}) {
			paths = append(paths, e.Path)
		}
	}
	switch {
	case len(paths) == 0:
	case len(paths) > maxPathspecs:
		_, _ = g.Output(ctx, "update-index", "-q", "--refresh")
	default:
		_, _ = g.Pipe(ctx, []byte(strings.Join(paths, "\x00")), "add", "--refresh", "--pathspec-from-file=-", "--pathspec-file-nul")
	}
}
