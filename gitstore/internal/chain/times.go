package chain

import (
	"context"
	"time"

	"git-checkpoint/gitstore/retention"

	"github.com/go-git/go-git/v5/plumbing"
)

// BaseTime returns the time of the commit that was HEAD at the save of a checkpoint, or the
// zero time.
func (s *Chains) BaseTime(c *Checkpoint) time.Time {
	r, err := s.Record(c)
	if err != nil || !plumbing.IsHash(r.Snapshot().Head) {
		return time.Time{}
	}
	return s.repo.CommittedAt(plumbing.NewHash(r.Snapshot().Head))
}

// NewestCommit returns the time of HEAD's commit, or the zero time.
func (s *Chains) NewestCommit(ctx context.Context) time.Time {
	head, err := s.repo.ReadHead(ctx)
	if err != nil {
		return time.Time{}
	}
	return s.repo.CommittedAt(head.Commit)
}

// Times returns the known times of an archived checkpoint, for rules of age.
func (s *Chains) Times(c *Checkpoint, newest time.Time) retention.Times {
	return retention.Times{Created: c.Saved, Clock: c.Clock, Base: s.BaseTime(c), Archived: c.Filed.At, Newest: newest, Now: s.repo.Now()}
}
