package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// prepare keeps the bytes of every file that will be replaced, merges where
// that was chosen, and makes the new files ready. Nothing of the worktree is
// touched. It returns the steps that can be taken, and the paths whose merge
// left conflicts.
func (s *Worktree) prepare(ctx context.Context, w *staging, plan *decision) (conflicts []string, err error) {
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for i := range plan.steps {
		if err := s.checkWanted(plan.steps[i]); err != nil {
			return nil, err
		}
		if err := s.keepBefore(ctx, root, &plan.steps[i]); err != nil {
			return nil, fmt.Errorf("keep %q: %w", plan.steps[i].path, err)
		}
	}
	if conflicts, err = w.mergeAll(ctx, plan); err != nil {
		return nil, err
	}
	return conflicts, w.makeReady(ctx, plan.steps)
}

// checkWanted makes sure that the files a step brings are there to be brought.
func (s *Worktree) checkWanted(st Step) error {
	wanted := append(st.indexAfter[:], st.workAfter)
	for _, f := range wanted {
		if !blob(f) {
			continue
		}
		kind, _, err := s.Objects.Header(f.Hash)
		if err != nil {
			return trees.Corrupt("snapshot", "path %q: blob %s: %w", st.path, f.Hash, err)
		}
		if kind != plumbing.BlobObject {
			return trees.Corrupt("snapshot", "path %q: %s is a %s", st.path, f.Hash, kind)
		}
	}
	return nil
}

// keepBefore takes a file's bytes into the safety snapshot. A file that is not
// the one that was looked at any more stops the restore while nothing is
// touched.
func (s *Worktree) keepBefore(ctx context.Context, root *os.Root, st *Step) error {
	if !st.work || st.before.disk.mode == 0 {
		return nil
	}
	pl, err := openPlace(root, st.path, false)
	if err != nil {
		return err
	}
	defer pl.close()
	if size := st.before.disk.info.Size(); size > maxInMemory {
		return s.keepLarge(ctx, pl, st)
	}
	d, data, err := readDisk(pl.dir, pl.name)
	if err != nil {
		return err
	}
	if !sameFile(st.before.disk.info, d.info) {
		return ErrConcurrentChange
	}
	st.before.disk = d
	s.Objects.Add(plumbing.BlobObject, data)
	return nil
}

// maxInMemory is the size of a file above which git stores it.
const maxInMemory = 32 << 20

func (s *Worktree) keepLarge(ctx context.Context, pl place, st *Step) error {
	f, err := pl.dir.Open(pl.name)
	if err != nil {
		return err
	}
	defer f.Close()
	out, err := s.Git.Stream(ctx, f, "-c", "core.fsync=loose-object", "hash-object", "-w", "--no-filters", "--stdin")
	if err != nil {
		return err
	}
	now, err := pl.dir.Lstat(pl.name)
	if err != nil || !sameFile(st.before.disk.info, now) {
		return ErrConcurrentChange
	}
	st.before.disk.hash = plumbing.NewHash(strings.TrimSpace(string(out)))
	s.Objects.Keep(st.before.disk.hash)
	return nil
}

// makeReady makes the files that steps put into the worktree.
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
		made, err := w.made(steps[i].path)
		if err != nil {
			return fmt.Errorf("make %q: %w", steps[i].path, err)
		}
		steps[i].diskAfter = made
	}
	return nil
}

// apply carries out steps whose files are ready: the worktree first, so that the
// staging area never says that a file is there before it is. It returns the
// paths that somebody changed since they were looked at: those stay.
func (s *Worktree) apply(ctx context.Context, w *staging, area *lockedIndex, steps []Step) (lost []string, err error) {
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var edits []indexEdit
	do := func(i int, st Step, move func(*os.Root, int, Step) error) error {
		switch err := move(root, i, st); {
		case errors.Is(err, ErrConcurrentChange):
			lost = append(lost, st.path)
			return nil
		case err != nil:
			return fmt.Errorf("write %q: %w", st.path, err)
		}
		if e, ok := st.edit(); ok {
			edits = append(edits, e)
		}
		return faultPoint("moved")
	}
	for i, st := range slices.Backward(steps) { // what is below a directory first
		if !st.creates() {
			if err := do(i, st, w.removeFile); err != nil {
				return lost, err
			}
		}
	}
	for i, st := range steps {
		if err := ctx.Err(); err != nil {
			return lost, err
		}
		if st.creates() {
			if err := do(i, st, w.installFile); err != nil {
				return lost, err
			}
		}
	}
	return lost, area.edit(ctx, edits)
}

// removeFile removes the file of a step, if it removes one, and the directories
// that this leaves empty.
func (w *staging) removeFile(root *os.Root, i int, st Step) error {
	if !st.work {
		return nil
	}
	if st.before.disk.mode != 0 {
		old, err := os.OpenRoot(w.dir + "/old")
		if err != nil {
			return err
		}
		defer old.Close()
		if err := take(root, st.path, st.before.disk, old, strconv.Itoa(i)); err != nil {
			return err
		}
	}
	w.s.prune(root, st.path, st.before.made)
	return nil
}

// installFile moves the prepared file of a step to its path.
func (w *staging) installFile(root *os.Root, _ int, st Step) error {
	pl, err := w.place(st.path)
	if err != nil {
		return err
	}
	defer pl.close()
	return put(root, st.path, st.before.disk, pl.dir, pl.name)
}

// edit is what a step does to the staging area. A file that was replaced by
// what is staged needs new stat data there, even if the entry stays.
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
	e.fresh = want == merged(has) && (blob(has) || st.removes())
	return e, e.change || e.fresh && st.work && has != Side{}
}

// cleanNear removes copies that a killed restore left beside their places.
func (s *Worktree) cleanNear(steps []Step) {
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return
	}
	defer root.Close()
	for _, st := range steps {
		if !st.creates() {
			continue
		}
		pl, err := openPlace(root, st.path, false)
		if err != nil {
			continue
		}
		if info, err := pl.dir.Lstat(nearName(st.path)); err == nil && info.Mode()&fs.ModeDir == 0 {
			_ = pl.dir.Remove(nearName(st.path))
		}
		pl.close()
	}
}
