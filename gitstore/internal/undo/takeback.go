package undo

import (
	"context"
	"errors"

	"git-checkpoint/gitstore/internal/repo"
)

// undoRestore reverts a completed restore and deletes its snapshot.
func (s *Restorer) undoRestore(ctx context.Context, sf *safety) (*Restored, error) {
	release, err := s.lockWorktree()
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.finishPending(ctx); err != nil {
		return nil, err
	}
	done, err := s.takeBack(ctx, sf)
	if err == nil || repo.IsDone(err) || errors.As(err, new(*repo.RefusedError)) {
		return done, err
	}
	return done, &repo.UnfinishedError{Err: err}
}

// takeBack reverts every path that still has the content from the restore, and deletes
// the snapshot.
func (s *Restorer) takeBack(ctx context.Context, sf *safety) (*Restored, error) {
	steps, err := sf.steps()
	if err != nil {
		return nil, err
	}
	outcome, err := s.site(s.NewObjectWriter()).TakeBack(ctx, steps)
	done := &Restored{ID: sf.plan.Checkpoint, Outcome: *outcome}
	if err != nil {
		return done, refusal(err)
	}
	return done, repo.AfterMove(s.forget(ctx, sf, len(done.Skipped) > 0))
}
