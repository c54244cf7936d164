package restore

import (
	"context"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/repo"
)

// Preview returns what Undo would revert now, and changes nothing. Restored then has the
// checkpoint of the restore, and the paths that Undo would write or leave.
// Preview fails with ErrNothingToUndo.
func (s *Restorer) Preview(ctx context.Context, issue checkpoint.Issue) (*Undone, error) {
	o, err := s.nextUndo(ctx, issue)
	if err != nil {
		return nil, err
	}
	return s.preview(ctx, o)
}

// PreviewRedo returns what Redo would do now, and changes nothing. It fails with
// ErrNothingToRedo.
func (s *Restorer) PreviewRedo(ctx context.Context, issue checkpoint.Issue) (*Undone, error) {
	o, err := s.nextRedo(ctx, issue)
	if err != nil {
		return nil, err
	}
	return s.preview(ctx, o)
}

// nextUndo returns the operation that an undo would revert, or fails with ErrNothingToUndo.
func (s *Restorer) nextUndo(ctx context.Context, issue checkpoint.Issue) (*operation, error) {
	o, err := s.toUndo(ctx, issue)
	if err == nil && o == nil {
		err = fmt.Errorf("undo for issue %s: %w", issue, repo.ErrNothingToUndo)
	}
	return o, err
}

// nextRedo returns the undo that a redo would revert, or fails with ErrNothingToRedo.
func (s *Restorer) nextRedo(ctx context.Context, issue checkpoint.Issue) (*operation, error) {
	o, err := s.toRedo(ctx, issue)
	if err == nil && o == nil {
		err = fmt.Errorf("redo for issue %s: %w", issue, repo.ErrNothingToRedo)
	}
	return o, err
}

func (s *Restorer) preview(ctx context.Context, o *operation) (*Undone, error) {
	p := &Undone{What: o.what, At: o.at, IDs: o.ids, key: o.key()}
	var err error
	if p.Commits, p.Saves, err = s.since(ctx, o); err != nil || o.snapshot == nil {
		return p, err
	}
	steps, err := o.snapshot.steps()
	if err != nil {
		return nil, err
	}
	outcome, err := s.siteSince(ctx, o.snapshot).PlanBack(ctx, steps)
	if err != nil {
		return nil, refusal(err)
	}
	p.Restored = &Restored{ID: o.snapshot.plan.Checkpoint, Undo: o.snapshot.ref, Outcome: *outcome}
	return p, nil
}
