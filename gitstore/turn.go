package gitstore

import (
	"context"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/refs"
)

// refDir is where refs are that are files.
func (s *Store) refDir() refs.Dir { return refs.Dir{Path: s.repo.CommonDir, Share: s.objects.Share} }

// inTurn runs f in the issue's turn. A turn that cannot be had, as in a
// repository that is read-only, is no error.
func (s *Store) inTurn(ctx context.Context, issue checkpoint.Issue, f func() error) error {
	return s.inTurns(ctx, []checkpoint.Issue{issue}, f)
}

// inTurns is inTurn for several issues at once.
func (s *Store) inTurns(ctx context.Context, issues []checkpoint.Issue, f func() error) error {
	names := make([]string, len(issues))
	for k, issue := range issues {
		names[k] = issue.RefName()
	}
	return s.inNamedTurns(ctx, names, f)
}

// inNamedTurns is inTurns for issues as they are named in refs.
func (s *Store) inNamedTurns(ctx context.Context, names []string, f func() error) error {
	s.turn = s.refDir().Take(ctx, names)
	s.compared = map[checkpoint.Issue]comparedRefs{}
	s.refs.Let()
	defer func() {
		s.turn.End()
		s.turn = nil
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
