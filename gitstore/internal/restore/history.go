package restore

import (
	"context"
	"errors"
	"slices"

	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/facts"
	"git-checkpoint/gitstore/internal/trees"
)

// decide calls the pure decide and adds the history since the snapshot. If HEAD was
// rewritten and no choice is made, files that only commits have changed are merged, as in
// git stash apply.
func (s *Worktree) decide(ctx context.Context, targets []Target, now func(string) state, r rules) (decision, error) {
	plan, targets, err := s.decideTouched(ctx, targets, now, r)
	if err != nil || r.choice != "" || len(plan.changed) == 0 || s.Rewritten == nil {
		return plan, err
	}
	if rewritten, err := s.Rewritten(ctx); err != nil || !rewritten {
		return plan, err
	}
	head, err := s.Head(ctx)
	if err != nil {
		return plan, err
	}
	find := &trees.Finder{Reader: s.Objects}
	targets = slices.Clone(targets)
	for i, t := range targets {
		in, err := contents.At(find, head, t.Path)
		if err != nil {
			return plan, err
		}
		// Only commits have changed a file that is as in HEAD, and not as in HEAD at the save.
		has := now(t.Path)
		if t.choice == "" && has.index == contents.Merged(in) && has.work == in && in != t.WorkBase {
			targets[i].choice = Merged
		}
	}
	return decide(targets, now, r), nil
}

// decideTouched calls decide: a path changed by a later commit counts as changed, even
// after a revert. It queries the history only for paths that would be written, and returns
// the targets with the result.
func (s *Worktree) decideTouched(ctx context.Context, targets []Target, now func(string) state, r rules) (decision, []Target, error) {
	plan := decide(targets, now, r)
	if s.Touched == nil || r.force || len(plan.steps) == 0 {
		return plan, targets, nil
	}
	paths := make([]string, len(plan.steps))
	for i, st := range plan.steps {
		paths[i] = st.path
	}
	touched, err := s.Touched(ctx, paths)
	switch {
	case ctx.Err() != nil:
		return plan, targets, ctx.Err()
	case err != nil && !errors.Is(err, facts.ErrUnknownHistory):
		return plan, targets, err
	case err == nil && len(touched) == 0:
		return plan, targets, nil
	}
	targets = slices.Clone(targets)
	for i, t := range targets {
		targets[i].touched = !t.later && !t.clean && (touched[t.Path] || err != nil && t.mayBeCommitted(now(t.Path)))
	}
	return decide(targets, now, r), targets, nil
}

// mayBeCommitted reports whether a restore could revert a commit missing from the known
// history. It returns false for untracked files that were deleted.
func (t Target) mayBeCommitted(s state) bool {
	hasEntry := t.IndexWant != (Stages{}) || t.IndexBase != (Stages{})
	return t.Index && hasEntry || t.WorkBase != Side{} || s.work != Side{} || s.index != Stages{}
}
