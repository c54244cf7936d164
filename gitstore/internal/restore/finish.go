package restore

import (
	"context"
	"errors"
)

// Finish completes a killed restore. It skips paths that changed since.
func (s *Worktree) Finish(ctx context.Context, steps []Step) error {
	s.cleanNear(steps)
	return s.workOn(ctx, func(w *staging, area *lockedIndex) error {
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
func (s *Worktree) workOn(ctx context.Context, f func(*staging, *lockedIndex) error) error {
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
func (s *Worktree) stillToDo(ctx context.Context, steps []Step, area *lockedIndex) ([]Step, error) {
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

// is reports whether a path's current file equals a known file.
func (s *Worktree) is(at state, d fileOnDisk) bool {
	return at.disk.same(d, s.configBool("core.filemode", true))
}

// recall reads the current raw state of all step paths, without git's filters.
func (s *Worktree) recall(ctx context.Context, steps []Step, area *lockedIndex) (func(string) state, error) {
	targets := make([]Target, len(steps))
	for i, st := range steps {
		targets[i] = Target{Path: st.path, Index: st.index, Work: st.work, IndexWant: st.indexAfter, WorkWant: st.workAfter}
		if st.indexAfter == (Stages{}) {
			targets[i].IndexWant = st.before.index
		}
	}
	return s.readState(ctx, targets, area, true)
}
