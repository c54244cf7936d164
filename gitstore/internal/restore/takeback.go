package restore

import (
	"cmp"
	"context"
	"os"
	"slices"
)

// TakeBack undoes steps. It restores each path to its state before the steps, unless the
// path changed since.
func (s *Worktree) TakeBack(ctx context.Context, steps []Step) (*Outcome, error) {
	s.cleanNear(steps)
	done := &Outcome{}
	return done, s.workOn(ctx, func(w *staging, area *lockedIndex) error {
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
		lost, err := s.apply(ctx, w, area, back)
		done.lose(lost)
		return err
	})
}

// reverse returns inverted steps. It skips paths that match neither the restored nor the
// previous state.
func (s *Worktree) reverse(ctx context.Context, steps []Step, area *lockedIndex, done *Outcome) ([]Step, error) {
	now, err := s.recall(ctx, steps, area)
	if err != nil {
		return nil, err
	}
	plan := decision{}
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

func (st Step) reversed(at state, index, work bool) Step {
	back := Step{path: st.path, index: index, work: work, indexAfter: st.before.index, workAfter: st.before.work, diskAfter: st.before.disk}
	back.before = at
	back.before.work, back.before.made = st.workAfter, st.madeAbove()
	back.before.sparse, back.before.assume = st.before.sparse, st.before.assume
	if !work {
		back.before.work = st.before.work
	}
	return back
}

// makes reports whether a step creates a new file.
func (st Step) makes() bool { return st.creates() && st.before.disk.mode == 0 }

// pruneMade removes directories created for a file that was not installed.
func (s *Worktree) pruneMade(st Step) {
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return
	}
	defer root.Close()
	s.prune(root, st.path, st.madeAbove())
}

// madeAbove returns the topmost directory created for a file, or "." if all existed.
func (st Step) madeAbove() string { return cmp.Or(st.before.made, ".") }
