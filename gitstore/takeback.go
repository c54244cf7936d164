package gitstore

import (
	"context"
	"os"
	"slices"
)

// undoRestore takes a finished restore back and forgets its snapshot.
func (s *Store) undoRestore(ctx context.Context, sf *safety) (*Restored, error) {
	release, err := s.lockWorktree()
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.finishPending(ctx); err != nil {
		return nil, err
	}
	return s.takeBack(ctx, sf)
}

// takeBack makes every path what it was before, where it still is what the
// restore made of it, and forgets the snapshot.
func (s *Store) takeBack(ctx context.Context, sf *safety) (*Restored, error) {
	steps, err := sf.steps()
	if err != nil {
		return nil, err
	}
	s.cleanNear(steps)
	done := &Restored{ID: sf.plan.Checkpoint}
	err = s.workOn(ctx, func(w *workshop, area *stagingArea) error {
		back, err := s.reverse(ctx, steps, area, done)
		if err != nil {
			return err
		}
		for _, st := range back {
			if !st.creates() {
				continue
			}
			if err := w.write(st.path, st.diskAfter); err != nil {
				return err
			}
		}
		lost, err := s.act(ctx, w, area, back)
		done.lose(lost)
		return err
	})
	if err != nil {
		return done, err
	}
	return done, s.forget(ctx, sf, len(done.Skipped) > 0)
}

// reverse are the steps the other way round. A path that is neither what the
// restore made of it nor what it was before is left alone.
func (s *Store) reverse(ctx context.Context, steps []step, area *stagingArea, done *Restored) ([]step, error) {
	now, err := s.recall(ctx, steps, area)
	if err != nil {
		return nil, err
	}
	plan := restorePlan{}
	for _, st := range steps {
		at := now(st.path)
		workOurs := st.work && s.is(at, st.diskAfter)
		indexOurs := st.index && at.index == st.indexAfter
		switch {
		case st.work && !workOurs && !s.is(at, st.before.disk), st.index && !indexOurs && at.index != st.before.index, at.blockage != "":
			plan.changed = append(plan.changed, st.path)
		case workOurs || indexOurs:
			plan.steps = append(plan.steps, st.reversed(at, indexOurs, workOurs))
		case st.makes():
			s.pruneMade(st)
		}
	}
	plan.fit()
	done.Skipped = append(plan.changed, plan.inTheWay...)
	slices.Sort(done.Skipped)
	for _, st := range plan.steps {
		done.Restored = append(done.Restored, st.path)
	}
	return plan.steps, nil
}

func (st step) reversed(at state, index, work bool) step {
	back := step{path: st.path, index: index, work: work, indexAfter: st.before.index, workAfter: st.before.work, diskAfter: st.before.disk}
	back.before = at
	back.before.work, back.before.made = st.workAfter, st.madeAbove()
	back.before.sparse, back.before.assume = st.before.sparse, st.before.assume
	if !work {
		back.before.work = st.before.work
	}
	return back
}

// makes reports whether a step makes a file where none was.
func (st step) makes() bool { return st.creates() && st.before.disk.mode == 0 }

// pruneMade removes directories that were made for a file that did not come.
func (s *Store) pruneMade(st step) {
	root, err := os.OpenRoot(s.repo.root)
	if err != nil {
		return
	}
	defer root.Close()
	s.prune(root, st.path, st.madeAbove())
}

// madeAbove is the topmost directory that was made for a file, "." for none.
func (st step) madeAbove() string { return first(st.before.made, ".") }

// lose moves paths to those that were left alone, since somebody changed them
// in the last moment.
func (r *Restored) lose(paths []string) {
	if len(paths) == 0 {
		return
	}
	r.Restored = slices.DeleteFunc(r.Restored, func(p string) bool { return slices.Contains(paths, p) })
	r.Skipped = append(r.Skipped, paths...)
	slices.Sort(r.Skipped)
}
