package gitstore

import (
	"context"
	"errors"
)

// undoRestore reverts a completed restore and deletes its snapshot.
func (s *Store) undoRestore(ctx context.Context, sf *safety) (*Restored, error) {
	release, err := s.lockWorktree()
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.finishPending(ctx); err != nil {
		return nil, err
	}
	done, err := s.takeBack(ctx, sf)
	if err == nil || isDone(err) || errors.As(err, new(*RefusedError)) {
		return done, err
	}
	return done, &UnfinishedError{err}
}

// takeBack reverts every path that still has the content from the restore, and deletes
// the snapshot.
func (s *Store) takeBack(ctx context.Context, sf *safety) (*Restored, error) {
	steps, err := sf.steps()
	if err != nil {
		return nil, err
	}
	outcome, err := s.site(s.newObjectWriter()).TakeBack(ctx, steps)
	done := &Restored{ID: sf.plan.Checkpoint, Outcome: *outcome}
	if err != nil {
		return done, refusal(err)
	}
	return done, afterMove(s.forget(ctx, sf, len(done.Skipped) > 0))
}
