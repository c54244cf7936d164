package chain

import (
	"context"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/retention"
)

// Archive moves checkpoints from an issue's chain to its archive, and returns their ids.
// Without ids, Archive moves all checkpoints. The ledger records reason and time, so
// every clone can compute archival ages.
func (s *Chains) Archive(ctx context.Context, issue checkpoint.Issue, ids []checkpoint.ID, why retention.Reason) ([]checkpoint.ID, error) {
	var moved []checkpoint.ID
	err := s.Alter(ctx, issue, func(c *Chain, k *repo.ObjectWriter) (*Change, error) {
		var err error
		if moved, err = idsToArchive(c, ids); err != nil {
			return nil, err
		}
		return s.ToArchive(ctx, c, moved, why, k)
	})
	if err != nil {
		return nil, fmt.Errorf("archive of issue %s: %w", issue, err)
	}
	return moved, nil
}

// idsToArchive returns the ids to archive, newest first. Without ids it returns all ids
// of the chain.
func idsToArchive(c *Chain, ids []checkpoint.ID) ([]checkpoint.ID, error) {
	live := c.Index()
	for _, id := range ids {
		if live[id] == nil {
			return nil, &repo.NotFoundError{Issue: c.Issue, Name: string(id)}
		}
	}
	wanted := SetOf(ids)
	var found []checkpoint.ID
	for _, cp := range c.Checkpoints() {
		if cp.ID != "" && (len(ids) == 0 || wanted[cp.ID]) {
			found = append(found, cp.ID)
		}
	}
	if len(found) == 0 {
		return nil, &repo.NoneError{Issue: c.Issue}
	}
	return found, nil
}

// ArchiveMove returns the move of an archive ref to these commits, or nil if the ref
// already points to them.
func (s *Chains) ArchiveMove(archive *Chain, links []ChainCommit, k *repo.ObjectWriter) []refs.Move {
	if tip := s.Rebuild(archive, links, k); tip != archive.Tip {
		return []refs.Move{{Name: archive.Ref, Old: archive.Tip, New: tip}}
	}
	return nil
}

// ToArchive returns the change that moves ids from chain c to the archive.
func (s *Chains) ToArchive(ctx context.Context, c *Chain, ids []checkpoint.ID, why retention.Reason, k *repo.ObjectWriter) (*Change, error) {
	archive, err := s.ReadChain(ctx, c.Issue, repo.ArchiveRef(c.Issue), 0)
	if err != nil {
		return nil, err
	}
	if archive.Cut {
		return nil, archive.ReadOnly()
	}
	gone, there := SetOf(ids), archive.Index()
	moving := slices.DeleteFunc(slices.Clone(c.Commits), func(l ChainCommit) bool {
		return l.Ledger || !gone[l.ID] || there[l.ID] != nil
	})
	noted := ledger.Archival{Reason: string(why), Clock: checkpoint.ClockAt(s.Now())}
	return &Change{
		Verb: "archive", Ids: ids, Remove: gone,
		Ledger: func(l *ledger.Ledger) {
			for _, id := range ids {
				l.Archived[id] = noted
			}
		},
		Also: s.ArchiveMove(archive, Merge(archive.Commits, moving), k),
	}, nil
}

// InBoth returns the checkpoints that are both in the chain and in the archive of an
// issue, newest first. It leaves out checkpoints that the ledger marks as archived: the
// next sync removes them from the chain.
func (s *Chains) InBoth(ctx context.Context, issue checkpoint.Issue) ([]checkpoint.ID, error) {
	archive, err := s.ReadChain(ctx, issue, repo.ArchiveRef(issue), 0)
	if err != nil || len(archive.Commits) == 0 {
		return nil, err
	}
	c, err := s.ReadChain(ctx, issue, repo.LiveRef(issue), 0)
	if err != nil {
		return nil, err
	}
	return archive.liveIn(c), nil
}

// liveIn returns the checkpoints of an archive that are also live in chain c and that the
// ledger of c does not mark as archived.
func (archive *Chain) liveIn(c *Chain) []checkpoint.ID {
	live := c.Index()
	var both []checkpoint.ID
	for _, l := range archive.Commits {
		if l.ID != "" && live[l.ID] != nil && !c.Ledger.IsArchived(l.ID) {
			both = append(both, l.ID)
		}
	}
	return both
}

// setArchiveFacts sets the archive facts of archived checkpoints from the ledger of the
// live chain. If the live chain cannot be read, the facts stay empty.
func (s *Chains) setArchiveFacts(ctx context.Context, issue checkpoint.Issue, list []Checkpoint) {
	if len(list) == 0 {
		return
	}
	known := ledger.New()
	if live, err := s.ReadChain(ctx, issue, repo.LiveRef(issue), 1); err == nil {
		known = live.Ledger
	}
	for i := range list {
		c := &list[i]
		c.Archived, c.Pinned, c.Filed = true, known.Pinned(c.ID), FiledOf(known.Archived[c.ID])
	}
}

func FiledOf(a ledger.Archival) Filed {
	if a.Reason == "" {
		return Filed{}
	}
	return Filed{retention.Reason(a.Reason), time.Unix(0, int64(a.Clock)).UTC()}
}
