package gitstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// retryFor bounds how long one operation goes on losing races.
const retryFor = 2 * time.Minute

// retry runs try with the issue locked, again until it no longer loses the race
// for the issue's ref against processes without the lock. What plain git took from
// the chain meanwhile is brought back first.
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
