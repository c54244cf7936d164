// Package restore restores checkpoints to a worktree and its index without losing existing
// changes, and reverts restores and removals.
//
//	selected   paths that the checkpoint changed, that changed since, or that came later
//	readState  current state of each path
//	compare    where the present versions are stored
//	decide     a step for each restorable path, as a pure function; plan.go has the rules
//	mergeAll   files that both sides changed are merged
//	prepare    git creates new files outside the worktree
//	keep       the replaced content becomes a pending entry (package operation)
//	apply      files are exchanged one by one, then the index as a whole
//
// A worktree decides and writes the files of one restore or undo. Restorer checks the place, writes
// the entry, and undoes, redoes, finishes or aborts. Concurrent edits of the user are
// kept.
package restore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/operation"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A worktree is the worktree with its index during one restore, undo or redo.
type worktree struct {
	*Restorer
	objects *repo.ObjectWriter // reads stored objects and adds new ones
	in      *places            // open while the index is

	// Of a restore.
	req    *RestoreRequest
	snap   *contents.Contents
	past   *past             // of the checkpoint to restore
	look   *Look             // files that differ from the index, and untracked files
	others map[string]string // paths that another session in this worktree changed, with the session
	// modes has the permissions of files at the save, if they are tighter than the umask.
	modes          map[string]fs.FileMode
	lost           bool     // all files of the worktree are missing
	isNoted        bool     // the entry of the operation has the steps
	selected, open []string // paths at the save, and those on which the files do not agree

	// Of an undo or a redo.
	former formerIndex   // before the operation to undo
	before plumbing.Hash // tree of HEAD at the operation to undo

	kept string // folder for files that the operation sets aside
}

// worktree returns the worktree for one restore, undo or redo.
func (s *Restorer) worktree() *worktree {
	return &worktree{Restorer: s, objects: s.repo.NewObjectWriter()}
}

// headTree returns the tree of HEAD, zero on an unborn branch.
func (s *worktree) headTree(ctx context.Context) (plumbing.Hash, error) {
	now, err := s.repo.ReadHead(ctx)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return s.repo.TreeOf(now)
}

// stale returns the path of an index lock left by a killed restore, or "".
func (s *worktree) stale() string {
	a := s.lockedIndexFiles()
	if a.isStale() {
		return a.file + ".lock"
	}
	return ""
}

// sweep removes leftovers of killed restores from State. No other restore may be running.
func (s *worktree) sweep() error {
	s.lockedIndexFiles().freeStale()
	if err := os.RemoveAll(s.stagingDir()); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil // not empty: a git process that survived the kill still creates files
}

// finishSteps completes a killed restore. It skips paths that changed since.
func (s *worktree) finishSteps(ctx context.Context, steps []Step) error {
	return s.workOn(ctx, func(w *staging, area *lockedIndex) error {
		s.cleanNear(steps)
		left, err := s.stillToDo(ctx, steps, area)
		if err != nil {
			return err
		}
		plan := decision{steps: left}
		plan.fit()
		if err := w.makeReady(ctx, plan.steps); err != nil {
			return err
		}
		_, err = s.apply(ctx, w, area, plan.steps)
		return err
	})
}

// workOn calls f with a locked index and a new staging directory.
func (s *worktree) workOn(ctx context.Context, f func(*staging, *lockedIndex) error) error {
	area, err := s.openLockedIndex(ctx, true)
	if err != nil {
		return err
	}
	defer area.close()
	w, err := s.openStaging()
	if err != nil {
		return err
	}
	return errors.Join(f(w, area), w.close())
}

// stillToDo returns remaining steps, reduced to the sides (index or worktree) that are
// neither done nor changed by others.
func (s *worktree) stillToDo(ctx context.Context, steps []Step, area *lockedIndex) ([]Step, error) {
	now, err := s.recall(ctx, steps, area)
	if err != nil {
		return nil, err
	}
	var left []Step
	for _, st := range steps {
		at := now(st.path)
		st.index = st.index && at.index == st.before.index
		if st.work && s.is(at, st.before.disk) && at.blockage == "" {
			st.before.disk.info = at.disk.info
		} else if st.work = false; s.is(at, st.diskAfter) {
			st.before.work = st.workAfter
		}
		if st.index || st.work {
			left = append(left, st)
		}
	}
	return left, nil
}

// is reports whether git treats a path's current file as equal to a known file: same bytes and,
// if core.fileMode is set, same executable bit.
func (s *worktree) is(at state, d fileOnDisk) bool {
	const exec = 0o100
	now := at.disk
	switch {
	case now.hash != d.hash, (now.mode == 0) != (d.mode == 0), (now.mode == trees.ModeSymlink) != (d.mode == trees.ModeSymlink):
		return false
	}
	return !s.configBool("core.filemode", true) || now.mode&exec == d.mode&exec
}

// recall reads the current raw state of all step paths, without git's filters.
func (s *worktree) recall(ctx context.Context, steps []Step, area *lockedIndex) (func(string) state, error) {
	targets := make([]Target, len(steps))
	for i, st := range steps {
		targets[i] = Target{Target: contents.Target{Path: st.path, Index: st.index, Work: st.work, IndexWant: st.indexAfter, WorkWant: st.workAfter}}
		if st.indexAfter == (Stages{}) {
			targets[i].IndexWant = st.before.index
		}
		for _, d := range []fileOnDisk{st.before.disk, st.diskAfter} {
			if d.kept {
				targets[i].kept = append(targets[i].kept, d.hash)
			}
		}
	}
	return s.readState(ctx, targets, area, true)
}

// undoSteps restores each path to its state before some steps. A path stays if it changed since, or if a
// commit changed it. With a name, undoSteps adds the opposite steps to the entry before the first change,
// so that an undo of these steps reverts the undo. Steps of a command that was killed are added too.
func (s *worktree) undoSteps(ctx context.Context, e *operation.Entry, steps []Step, stores string, killed []Step) (*Outcome, error) {
	done := &Outcome{}
	return done, s.workOn(ctx, func(w *staging, area *lockedIndex) error {
		s.cleanNear(steps)
		back, planned, err := s.reverse(ctx, steps, area)
		if err != nil {
			return err
		}
		*done = *planned
		for _, st := range back {
			if st.diskAfter.kept {
				if _, err := w.findKept(st.path, st.diskAfter); err != nil {
					return err
				}
			}
		}
		for _, st := range steps { // directories of files that were not installed
			if st.creates() && st.before.disk.mode == 0 && !slices.Contains(done.Restored, st.path) && !slices.Contains(done.Skipped, st.path) {
				s.prune(s.in, st.path, st.madeAbove())
			}
		}
		if stores != "" && len(back) > 0 {
			if err := s.keepAll(ctx, back); err != nil {
				return err
			}
			if err := s.note(ctx, e, stores, back, killed); err != nil {
				return err
			}
		}
		for _, st := range back {
			if !st.creates() || st.diskAfter.kept {
				continue
			}
			if err := w.write(st.path, st.diskAfter); err != nil {
				return err
			}
		}
		lost, err := s.apply(ctx, w, area, back)
		done.lose(append(lost, w.stays...), &done.Skipped)
		return err
	})
}

// keepAll adds the current contents of the files of all steps to the entry of the operation, except for
// files that are set aside. If a file changed since readState, it returns ErrConcurrentChange before the
// restore changes anything.
func (s *worktree) keepAll(ctx context.Context, steps []Step) error {
	isLFS, err := s.findLFS(ctx, steps)
	if err != nil {
		return err
	}
	for i := range steps {
		was := &steps[i].before.disk
		if !steps[i].work || was.mode == 0 {
			continue
		}
		pl, err := s.in.open(steps[i].path, false)
		if err == nil && !was.kept && !isLFS[steps[i].path] && was.info.Size() <= maxInMemory {
			d, data, failed := readDisk(pl)
			switch {
			case failed == nil && sameFile(was.info, d.info):
				*was = d
				s.objects.Add(plumbing.BlobObject, data)
				continue
			case failed == nil:
				err = ErrConcurrentChange
			case !errors.Is(failed, fs.ErrPermission):
				err = failed
			}
		}
		if err != nil {
			return fmt.Errorf("keep %q: %w", steps[i].path, err)
		}
		*was = unread(*was)
	}
	return nil
}

// reverse returns inverted steps. By the rules of Restore, it skips paths that match
// neither the restored nor the previous state, and paths of which a commit has the restored state.
func (s *worktree) reverse(ctx context.Context, steps []Step, area *lockedIndex) ([]Step, *Outcome, error) {
	now, err := s.recall(ctx, steps, area)
	if err != nil {
		return nil, nil, err
	}
	head, err := s.headTree(ctx)
	if err != nil {
		return nil, nil, err
	}
	find := &trees.Finder{Reader: s.objects}
	byPath, targets := map[string]Step{}, make([]Target, len(steps))
	for i, st := range steps {
		// The target inverts the step. Its sides of the worktree are raw files.
		byPath[st.path] = st
		t := Target{Target: contents.Target{Path: st.path, Index: st.index, Work: st.work, IndexWant: st.before.index, WorkWant: st.before.disk.side()}}
		at, raw := s.compared(now(st.path), st), func(tree plumbing.Hash) (Side, Side, error) {
			mode, hash, err := find.Lookup(tree, st.path)
			f := Side{Mode: mode, Hash: hash}
			if f == st.workAfter {
				return f, st.diskAfter.side(), err
			}
			return f, Side{Mode: trees.ModeTree}, err // a raw file that no path has
		}
		then, thenRaw, err := raw(s.before)
		if err != nil {
			return nil, nil, err
		}
		now, nowRaw, err := raw(head)
		if err != nil {
			return nil, nil, err
		}
		t.IndexBase, t.WorkBase = contents.Merged(then), thenRaw
		t.entry = undoOf(t.IndexWant, st.indexAfter, at.index, contents.Merged(then), contents.Merged(now))
		t.file = undoOf(t.WorkWant, st.diskAfter.side(), at.work, thenRaw, nowRaw)
		targets[i] = t
	}
	raw := func(path string) state { return s.compared(now(path), byPath[path]) }
	plan := decide(targets, raw, choices{back: true, choice: Mine})
	for i, st := range plan.steps {
		plan.steps[i] = byPath[st.path].reversed(now(st.path), st.index, st.work)
	}
	done := &Outcome{Skipped: slices.Concat(plan.Skipped, plan.InTheWay, plan.Committed), Committed: plan.Committed}
	slices.Sort(done.Skipped)
	done.Skipped = slices.Compact(done.Skipped)
	done.listSteps(plan.steps)
	return plan.steps, done, nil
}

// compared returns a state of recall for decide: the file on disk becomes the side of the
// step that git treats as equal.
func (s *worktree) compared(at state, st Step) state {
	at.sparse = false // restored files are in the worktree
	at.work = at.disk.side()
	if at.work == st.before.disk.side() {
		return at
	}
	for _, known := range []fileOnDisk{st.diskAfter, st.before.disk} {
		if s.is(at, known) {
			at.work = known.side()
			return at
		}
	}
	return at
}

// reversed returns the step that inverts st, if the path is in the state at. The made
// directory is that which the inverted step, or its own inversion, has to remove again.
func (st Step) reversed(at state, index, work bool) Step {
	back := Step{path: st.path, index: index, work: work, indexAfter: st.before.index, workAfter: st.before.work, diskAfter: st.before.disk}
	back.before = at
	back.before.work = st.workAfter
	if !back.creates() {
		back.before.made = st.madeAbove()
	}
	back.before.sparse, back.before.assume = st.before.sparse, st.before.assume
	if !work {
		back.before.work = st.before.work
	}
	return back
}

// madeAbove returns the topmost directory created for a file, or "." if all existed.
func (st Step) madeAbove() string { return cmp.Or(st.before.made, ".") }
