package gitstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// retryFor bounds how long one operation goes on losing races.
const retryFor = 2 * time.Minute

// retry runs try until it no longer loses the race for the issue's ref. The
// first try waits for nobody. Later ones queue behind a file lock, so that a
// crowd does not do its work in vain; compare-and-swap alone keeps the chain
// right, so a lock that cannot be had is no error.
func (s *Store) retry(ctx context.Context, issue checkpoint.Issue, try func() error) error {
	err := try()
	for start := time.Now(); errors.Is(err, errLost); {
		if time.Since(start) > retryFor {
			return fmt.Errorf("%w: %w", ErrMoved, err)
		}
		release, waitErr := s.queue(ctx, issue)
		if waitErr != nil {
			return waitErr
		}
		err = try()
		release()
	}
	return err
}

// queue waits for the issue's turn, bounded, with jitter.
func (s *Store) queue(ctx context.Context, issue checkpoint.Issue) (release func(), err error) {
	release = func() {}
	path := filepath.Join(s.repo.commonDir, "git-checkpoint", "lock", issue.RefName())
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err == nil {
		if f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666); err == nil {
			release = func() { f.Close() }
			waitLock(ctx, f, 10*time.Second)
		}
	}
	select {
	case <-ctx.Done():
		release()
		return nil, ctx.Err()
	case <-time.After(rand.N(3 * time.Millisecond)):
		return release, nil
	}
}
