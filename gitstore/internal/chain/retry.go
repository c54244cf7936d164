package chain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/repo"
)

// retryFor limits the time in which one operation retries after lost races.
const retryFor = 2 * time.Minute

// Retry runs try with the issue locked. If a process without the lock moves the ref
// concurrently, retry runs try again. Before each run it restores checkpoints that plain
// git removed.
func (s *Chains) Retry(ctx context.Context, issue checkpoint.Issue, try func() error) error {
	return s.RetryAfter(ctx, issue, s.RestoreOwnChain, try)
}

// RetryAfter is retry with another repair than RestoreOwnChain.
func (s *Chains) RetryAfter(ctx context.Context, issue checkpoint.Issue, repair func(context.Context, checkpoint.Issue) error, try func() error) error {
	for start := time.Now(); ; {
		err := s.WithIssueLock(ctx, issue, func() error {
			if err := repair(ctx, issue); err != nil {
				return err
			}
			return try()
		})
		if !errors.Is(err, repo.ErrRefMoved) {
			return err
		}
		if time.Since(start) > retryFor {
			return fmt.Errorf("%w: %w", repo.ErrMoved, err)
		}
	}
}
