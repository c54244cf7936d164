package gitstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// retryFor limits the time in which one operation retries after lost races.
const retryFor = 2 * time.Minute

// retry runs try with the issue locked. If a process without the lock moves the ref
// concurrently, retry runs try again. Before each run it restores checkpoints that plain
// git removed.
func (s *Store) retry(ctx context.Context, issue checkpoint.Issue, try func() error) error {
	return s.retryAfter(ctx, issue, s.restoreOwnChain, try)
}

// retryAfter is retry with another repair than restoreOwnChain.
func (s *Store) retryAfter(ctx context.Context, issue checkpoint.Issue, repair func(context.Context, checkpoint.Issue) error, try func() error) error {
	for start := time.Now(); ; {
		err := s.withIssueLock(ctx, issue, func() error {
			if err := repair(ctx, issue); err != nil {
				return err
			}
			return try()
		})
		if !errors.Is(err, errRefMoved) {
			return err
		}
		if time.Since(start) > retryFor {
			return fmt.Errorf("%w: %w", ErrMoved, err)
		}
	}
}
