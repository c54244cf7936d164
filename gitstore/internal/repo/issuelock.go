package repo

import (
	"context"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// RefDir returns the repository folder with loose refs.
func (s *Repo) RefDir() refs.Dir { return refs.Dir{Path: s.Info.CommonDir, Share: s.Objects.Share} }

// WithIssueLock runs f with the issue locked. If locking fails, for example in a
// read-only repository, f runs without the lock.
func (s *Repo) WithIssueLock(ctx context.Context, issue checkpoint.Issue, f func() error) error {
	return s.WithIssueLocks(ctx, []checkpoint.Issue{issue}, f)
}

// WithIssueLocks runs f with several issues locked.
func (s *Repo) WithIssueLocks(ctx context.Context, issues []checkpoint.Issue, f func() error) error {
	names := make([]string, len(issues))
	for k, issue := range issues {
		names[k] = issue.RefName()
	}
	return s.WithNamedLocks(ctx, names, f)
}

// WithNamedLocks runs f with several issues locked, by their names in refs.
func (s *Repo) WithNamedLocks(ctx context.Context, names []string, f func() error) error {
	s.IssueLock = s.RefDir().Lock(ctx, names)
	s.Compared = map[checkpoint.Issue]ComparedRefs{}
	s.Refs.Let()
	defer func() {
		s.IssueLock.Unlock()
		s.IssueLock = nil
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
func (s *Repo) ClearLock(path string, since time.Time) { s.RefDir().ClearLock(path, since) }

// A ComparedRefs holds the values of a chain ref and of own/ that RestoreOwnChain has
// compared. The chain at live contains every readable checkpoint of the chain at own.
type ComparedRefs struct{ Live, Own plumbing.Hash }
