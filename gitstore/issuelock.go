package gitstore

import (
	"context"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// refDir returns the repository folder with loose refs.
func (s *Store) refDir() refs.Dir { return refs.Dir{Path: s.repo.CommonDir, Share: s.objects.Share} }

// withIssueLock runs f with the issue locked. If locking fails, for example in a
// read-only repository, f runs without the lock.
func (s *Store) withIssueLock(ctx context.Context, issue checkpoint.Issue, f func() error) error {
	return s.withIssueLocks(ctx, []checkpoint.Issue{issue}, f)
}

// withIssueLocks runs f with several issues locked.
func (s *Store) withIssueLocks(ctx context.Context, issues []checkpoint.Issue, f func() error) error {
	names := make([]string, len(issues))
	for k, issue := range issues {
		names[k] = issue.RefName()
	}
	return s.withNamedLocks(ctx, names, f)
}

// withNamedLocks runs f with several issues locked, by their names in refs.
func (s *Store) withNamedLocks(ctx context.Context, names []string, f func() error) error {
	s.issueLock = s.refDir().Lock(ctx, names)
	s.compared = map[checkpoint.Issue]comparedRefs{}
	s.refs.Let()
	defer func() {
		s.issueLock.Unlock()
		s.issueLock = nil
	}()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.settleInterrupted(ctx); err != nil {
		return err
	}
	return f()
}

// ClearLock removes a lock file that a killed git left after since, unless a running git
// may hold it.
func (s *Store) ClearLock(path string, since time.Time) { s.refDir().ClearLock(path, since) }

// A comparedRefs holds the values of a chain ref and of own/ that restoreOwnChain has
// compared. The chain at live contains every readable checkpoint of the chain at own.
type comparedRefs struct{ live, own plumbing.Hash }
