package gitstore

import (
	"context"
	"errors"
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
	done, err := s.takeBack(ctx, sf)
	if err == nil || isDone(err) || errors.As(err, new(*RefusedError)) {
		return done, err
	}
	return done, &UnfinishedError{err}
}

// takeBack makes every path what it was before, where it still is what the
// restore made of it, and forgets the snapshot.
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
