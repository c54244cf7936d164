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
	"strconv"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/trace"

	"github.com/go-git/go-git/v5/plumbing"
)

// checkWanted returns an error if a wanted blob is missing or has another type. A dry run does not
// fetch blobs that a partial clone lacks.
func (s *worktree) checkWanted(steps []Step) error {
	for _, st := range steps {
		for _, f := range append(st.indexAfter[:], st.workAfter) {
			if !f.IsBlob() {
				continue
			}
			kind, _, err := s.objects.Header(f.Hash)
			switch {
			case s.req.DryRun && errors.As(err, new(*repo.PromisedError)):
			case err != nil:
				return trees.Corrupt("snapshot", "path %q: blob %s: %w", st.path, f.Hash, err)
			case kind != plumbing.BlobObject:
				return trees.Corrupt("snapshot", "path %q: %s is a %s", st.path, f.Hash, kind)
			}
		}
	}
	return nil
}

// maxInMemory is the size of the largest file that a restore copies into the entry. It is a variable
// for tests.
var maxInMemory int64 = 32 << 20

// makeReady creates the files of all creating steps in the staging directory.
func (w *staging) makeReady(ctx context.Context, steps []Step) error {
	var puts []Step
	for _, st := range steps {
		if st.creates() {
			puts = append(puts, st)
		}
	}
	if err := w.checkout(ctx, puts); err != nil {
		return err
	}
	for i := range steps {
		if !steps[i].creates() {
			continue
		}
		made, err := w.prepared(steps[i])
		if err != nil {
			return fmt.Errorf("make %q: %w", steps[i].path, err)
		}
		steps[i].diskAfter = made
	}
	return nil
}

// apply executes prepared steps: first worktree files, then the index, so that the index
// never lists a missing file. It returns paths changed concurrently; those files stay.
func (s *worktree) apply(ctx context.Context, w *staging, area *lockedIndex, steps []Step) (lost []string, err error) {
	defer trace.Begin(trace.Step, "write files").End()
	var edits []indexEdit
	do := func(st Step, err error) error {
		switch {
		case errors.Is(err, ErrConcurrentChange):
			lost = append(lost, st.path)
			return nil
		case errors.Is(err, errNotAside):
			w.stays = append(w.stays, st.path)
			return nil
		case err != nil:
			return fmt.Errorf("write %q: %w", st.path, err)
		}
		if e, ok := st.edit(); ok {
			edits = append(edits, e)
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
	if !st.work {
		return nil
	}
	if st.before.disk.mode != 0 {
		trash, err := w.old.open(strconv.Itoa(i), false)
		if st.before.disk.kept {
			trash, err = w.freePlace(st.path)
		}
		if err != nil {
			return err
		}
		if err := take(w.s.in, st.path, st.before.disk, trash); err != nil {
			return err
		}
	}
	w.s.prune(w.s.in, st.path, st.before.made)
	return nil
}

// installFile moves a step's prepared file, or the file that was set aside, to its path.
func (w *staging) installFile(st Step) error {
	ready, err := w.made.open(st.path, false)
	if st.diskAfter.kept {
		ready, err = w.findKept(st.path, st.diskAfter)
	}
	if err != nil {
		return err
	}
	if !st.before.disk.kept {
		err := w.s.put(w.s.in, st.path, st.before.disk, ready)
		if err == nil && st.diskAfter.kept { // the exchange has left the replaced file, which the entry has
			err = fsutil.IgnoreMissing(ready.dir.Remove(ready.name))
		}
		return err
	}
	return w.exchangeKept(st, ready)
}

// edit returns the index change of a step. A replaced file needs new stat data in the
// index, even if the staged content stays.
func (st Step) edit() (indexEdit, bool) {
	want := st.before.index
	if st.index {
		want = st.indexAfter
	}
	e := indexEdit{path: st.path, want: want, change: st.index, sparse: st.before.sparse, assume: st.before.assume}
	has := st.before.work
	if st.work {
		has = st.workAfter
	}
	return e, e.change || st.work && has.IsBlob() && want == contents.Merged(has)
}

// cleanNear removes temporary copies that a killed restore left beside their target
// paths.
func (s *worktree) cleanNear(steps []Step) {
	for _, st := range steps {
		if !st.creates() {
			continue
		}
		pl, err := s.in.open(st.path, false)
		if err != nil {
			continue
		}
		if info, err := pl.dir.Lstat(nearName(st.path)); err == nil && info.Mode()&fs.ModeDir == 0 {
			_ = pl.dir.Remove(nearName(st.path))
		}
	}
}

// markSparse marks paths missing from the index that a sparse checkout excludes from the
// worktree. Git applies its patterns to a temporary index with these paths and an empty
// worktree.
func (s *worktree) markSparse(ctx context.Context, targets []Target, now map[string]*state) error {
	if !s.configBool("core.sparsecheckout", false) {
		return nil
	}
	var info bytes.Buffer
	var asked []string
	for _, t := range targets {
		if st := now[t.Path]; t.Index && st.index == (Stages{}) && st.work == (Side{}) && t.IndexWant[0].IsBlob() {
			fmt.Fprintf(&info, "%o %s\t%s\x00", t.IndexWant[0].Mode, t.IndexWant[0].Hash, t.Path)
			asked = append(asked, t.Path)
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
	g := s.repo.Git.With("GIT_INDEX_FILE="+filepath.Join(dir, "index"), "GIT_DIR="+s.repo.Info.Dir, "GIT_WORK_TREE="+dir)
	g.Dir = dir
	plain := []string{"-c", "index.sparse=false", "-c", "core.splitIndex=false", "-c", "core.fsmonitor=", "-c", "core.hooksPath=" + os.DevNull}
	_, err = g.Pipe(ctx, info.Bytes(), append(plain, "update-index", "-z", "--add", "--index-info")...)
	if err == nil {
		_, err = g.Output(ctx, append(plain, "sparse-checkout", "reapply")...)
	}
	var x indexList
	if err == nil {
		x, err = listIndex(ctx, g)
	}
	if err != nil {
		return fmt.Errorf("apply the sparse checkout: %w", err)
	}
	for _, path := range asked {
		now[path].sparse = x.lookup(path).sparse
	}
	return nil
}

// faultPoint is a test hook that stops or kills a restore after each moved file and
// between its stages.
var faultPoint = func(string) error { return nil }
