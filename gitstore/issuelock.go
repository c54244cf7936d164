package gitstore

import (
	"context"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// refDir is where refs are that are files.
func (s *Store) refDir() refs.Dir { return refs.Dir{Path: s.repo.CommonDir, Share: s.objects.Share} }

// withIssueLock runs f with the issue locked. A lock that cannot be had, as in a
// repository that is read-only, is no error.
func (s *Store) withIssueLock(ctx context.Context, issue checkpoint.Issue, f func() error) error {
	return s.withIssueLocks(ctx, []checkpoint.Issue{issue}, f)
}

// withIssueLocks is withIssueLock for several issues at once.
func (s *Store) withIssueLocks(ctx context.Context, issues []checkpoint.Issue, f func() error) error {
	names := make([]string, len(issues))
	for k, issue := range issues {
		names[k] = issue.RefName()
	}
	return s.withNamedLocks(ctx, names, f)
}

// withNamedLocks is withIssueLocks for issues as they are named in refs.
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

// ClearLock removes a lock in the repository that a git which was killed after a
// time has left, if no git which may hold the lock runs here.
func (s *Store) ClearLock(path string, since time.Time) { s.refDir().ClearLock(path, since) }

// comparedRefs are the values of a chain's ref and of own/ that restoreOwnChain has
// compared: the chain at live has everything of the one at own that can be read.
type comparedRefs struct{ live, own plumbing.Hash }
