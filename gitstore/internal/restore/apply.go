package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/trace"

	"github.com/go-git/go-git/v5/plumbing"
)

// checkWanted returns an error if a wanted blob is missing or has another type. A dry run does not
// fetch blobs that a partial clone lacks.
func (s *worktree) checkWanted(steps []Step) error {
	for _, st := range steps {
		for _, f := range append(st.After.Index[:], st.After.Work) {
			if !f.IsBlob() {
				continue
			}
			kind, _, err := s.objects.Header(f.Hash)
			switch {
			case s.req.DryRun && errors.As(err, new(*repo.PromisedError)):
			case err != nil:
				return trees.Corrupt("snapshot", "path %q: blob %s: %w", st.Path, f.Hash, err)
			case kind != plumbing.BlobObject:
				return trees.Corrupt("snapshot", "path %q: %s is a %s", st.Path, f.Hash, kind)
			}
		}
	}
	return nil
}

// maxInMemory is the size of the largest file that a restore copies into the entry. It is a variable
// for tests.
var maxInMemory int64 = 32 << 20

// makeReady creates the files of all creating steps in the staging directory. A step of an entry has the raw
// bytes of its file. Git makes the other files.
func (w *staging) makeReady(ctx context.Context, steps []Step) error {
	var puts []*Step
	for i := range steps {
		st, err := &steps[i], error(nil)
		switch d := st.After.Disk; {
		case !st.creates():
		case d.isAside():
			_, err = w.findKept(*st)
		case d.Mode != 0 && w.s.objects.Has(d.Hash):
			err = w.write(st.Path, d)
		default:
			puts = append(puts, st)
		}
		if err != nil {
			return fmt.Errorf("make %q: %w", st.Path, err)
		}
	}
	if slices.ContainsFunc(puts, func(st *Step) bool { return st.merge }) {
		if err := w.s.objects.Flush(ctx); err != nil { // git checkout-index reads the results
			return err
		}
	}
	if err := w.checkout(ctx, puts); err != nil {
		return err
	}
	for _, st := range puts {
		var err error
		if st.After.Disk, err = w.prepared(st); err != nil {
			return fmt.Errorf("make %q: %w", st.Path, err)
		}
	}
	return nil
}

// apply executes prepared steps: first worktree files, then the index, so that the index
// never lists a missing file. It returns paths changed concurrently; those files stay.
func (s *worktree) apply(ctx context.Context, w *staging, area *lockedIndex, steps []Step) (lost []string, err error) {
	defer trace.Begin(trace.Step, "write files").End()
	var edits []Step
	do := func(st Step, err error) error {
		switch {
		case errors.Is(err, ErrConcurrentChange):
			lost = append(lost, st.Path)
			return nil
		case errors.Is(err, errNotAside):
			w.stays = append(w.stays, st.Path)
			return nil
		case err != nil:
			return fmt.Errorf("write %q: %w", st.Path, err)
		}
		// A replaced file needs new stat data in the index, even if the staged content stays.
		if st.Index || st.creates() && st.After.Work.IsBlob() && st.entry() == contents.Merged(st.After.Work) {
			edits = append(edits, st)
		}
		return faultPoint("moved")
	}
	for i, st := range slices.Backward(steps) { // children before their directory
		if !st.creates() {
			if err := do(st, w.removeFile(i, st)); err != nil {
				return lost, err
			}
		}
	}
	for _, st := range steps {
		if err := ctx.Err(); err != nil {
			return lost, err
		}
		if st.creates() {
			if err := do(st, w.installFile(st)); err != nil {
				return lost, err
			}
		}
	}
	return lost, area.edit(ctx, edits, s.former)
}

// removeFile removes the file of a removing step, and parent directories that become
// empty.
func (w *staging) removeFile(i int, st Step) error {
	if !st.Work {
		return nil
	}
	if st.Before.Disk.Mode != 0 {
		trash := place{w.own, "old/" + strconv.Itoa(i)}
		if st.Before.Disk.isAside() {
			var err error
			if trash, err = w.keptPlace(st.Path, st.Before.Disk); err != nil {
				return err
			}
		}
		if err := take(w.s.in, st.Path, st.Before.Disk, trash); err != nil {
			return err
		}
	}
	w.s.prune(w.s.in, st.Path, st.Made)
	return nil
}

// installFile moves a step's prepared file, or the file that was set aside, to its path.
func (w *staging) installFile(st Step) error {
	ready := w.readyPlace(st.Path)
	if st.After.Disk.isAside() {
		var err error
		if ready, err = w.findKept(st); err != nil {
			return err
		}
	}
	if !st.Before.Disk.isAside() {
		err := w.s.put(w.s.in, st.Path, st.Before.Disk, ready)
		if err == nil && st.After.Disk.isAside() { // the exchange has left the replaced file, which the entry has
			err = fsutil.IgnoreMissing(ready.dir.Remove(ready.name))
		}
		return err
	}
	// The ready file is in the folder of the entry before the exchange, so that no kill leaves the other
	// file in the staging directory.
	free, err := w.keptPlace(st.Path, st.Before.Disk)
	if err != nil {
		return err
	}
	if err := os.Rename(ready.path(), free.path()); err != nil {
		return aside(err)
	}
	if err := faultPoint("aside"); err != nil {
		return err
	}
	return aside(w.s.put(w.s.in, st.Path, st.Before.Disk, free))
}

// markSparse marks paths missing from the index that a sparse checkout excludes from the
// worktree. Git applies its patterns to a temporary index with these paths and an empty
// worktree.
func (s *worktree) markSparse(ctx context.Context, targets []Target) error {
	if !s.configBool("core.sparsecheckout", false) {
		return nil
	}
	var info bytes.Buffer
	var asked []*Target
	for i := range targets {
		if t := &targets[i]; t.Index && t.now.Index == (Stages{}) && t.now.Work == (Side{}) && t.IndexWant[0].IsBlob() {
			fmt.Fprintf(&info, "%o %s\t%s\x00", t.IndexWant[0].Mode, t.IndexWant[0].Hash, t.Path)
			asked = append(asked, t)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp("", "git-checkpoint-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	g, err := s.temporaryIndex(ctx, dir, dir, info.Bytes())
	if err == nil {
		_, err = g.Output(ctx, "sparse-checkout", "reapply")
	}
	var x indexList
	if err == nil {
		x, err = listIndex(ctx, g)
	}
	if err != nil {
		return fmt.Errorf("apply the sparse checkout: %w", err)
	}
	for _, t := range asked {
		t.now.sparse = x.lookup(t.Path).sparse
	}
	return nil
}

// temporaryIndex returns a git on a new index in a directory, for another worktree. info has the entries.
func (s *worktree) temporaryIndex(ctx context.Context, dir, worktree string, info []byte) (git.Git, error) {
	g := s.repo.Git.OnIndex(filepath.Join(dir, "index"), s.repo.Config...).With("GIT_DIR="+s.repo.Info.Dir, "GIT_WORK_TREE="+worktree)
	g.Settings = append(g.Settings, "index.sparse=false", "core.fsync=none")
	g.Dir = worktree
	_, err := g.Pipe(ctx, info, "update-index", "-z", "--add", "--index-info")
	return g, err
}

// faultPoint is a test hook that stops or kills a restore after each moved file,
// before a file is set aside by an exchange, and between its stages.
var faultPoint = func(string) error { return nil }
