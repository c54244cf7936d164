package gitstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/retention"
)

// Archive moves checkpoints from an issue's chain to its archive, and returns their ids.
// Without ids, Archive moves all checkpoints. The ledger records reason and time, so
// every clone can compute archival ages.
func (s *Store) Archive(ctx context.Context, issue checkpoint.Issue, ids []checkpoint.ID, why retention.Reason) ([]checkpoint.ID, error) {
	var moved []checkpoint.ID
	err := s.alter(ctx, issue, func(c *chain, k *objectWriter) (*change, error) {
		var err error
		if moved, err = liveOnes(c, ids); err != nil {
			return nil, err
		}
		return s.toArchive(ctx, c, moved, why, k)
	})
	if err != nil {
		return nil, fmt.Errorf("archive of issue %s: %w", issue, err)
	}
	return moved, nil
}

// liveOnes returns the ids to archive, newest first. Without ids it returns all ids of
// the chain.
func liveOnes(c *chain, ids []checkpoint.ID) ([]checkpoint.ID, error) {
	live := c.index()
	for _, id := range ids {
		if live[id] == nil {
			return nil, &NotFoundError{Issue: c.issue, Name: string(id)}
		}
	}
	wanted := setOf(ids)
	var found []checkpoint.ID
	for _, cp := range c.checkpoints() {
		if cp.ID != "" && (len(ids) == 0 || wanted[cp.ID]) {
			found = append(found, cp.ID)
		}
	}
	if len(found) == 0 {
		return nil, &NoneError{Issue: c.issue}
	}
	return found, nil
}

// archiveMove returns the move of an archive ref to these commits, or nil if the ref
// already points to them.
func (s *Store) archiveMove(archive *chain, links []chainCommit, k *objectWriter) []refs.Move {
	if tip := s.rebuild(archive, links, k); tip != archive.tip {
		return []refs.Move{{Name: archive.ref, Old: archive.tip, New: tip}}
	}
	return nil
}

// toArchive returns the change that moves ids from chain c to the archive.
func (s *Store) toArchive(ctx context.Context, c *chain, ids []checkpoint.ID, why retention.Reason, k *objectWriter) (*change, error) {
	archive, err := s.readChain(ctx, c.issue, ArchiveRef(c.issue), 0)
	if err != nil {
		return nil, err
	}
	if archive.cut {
		return nil, archive.readOnly()
	}
	gone, there := setOf(ids), archive.index()
	moving := slices.DeleteFunc(slices.Clone(c.commits), func(l chainCommit) bool {
		return l.ledger || !gone[l.ID] || there[l.ID] != nil
	})
	noted := ledger.Archival{Reason: string(why), Clock: checkpoint.ClockAt(s.now())}
	return &change{
		verb: "archive", ids: ids, remove: gone,
		ledger: func(l *ledger.Ledger) {
			for _, id := range ids {
				l.Archived[id] = noted
			}
		},
		also: s.archiveMove(archive, merge(archive.commits, moving), k),
	}, nil
}

// inBoth returns the checkpoints that are both in the chain and in the archive of an
// issue, newest first. It leaves out checkpoints that the ledger marks as archived: the
// next sync removes them from the chain.
func (s *Store) inBoth(ctx context.Context, issue checkpoint.Issue) ([]checkpoint.ID, error) {
	archive, err := s.readChain(ctx, issue, ArchiveRef(issue), 0)
	if err != nil || len(archive.commits) == 0 {
		return nil, err
	}
	c, err := s.readChain(ctx, issue, LiveRef(issue), 0)
	if err != nil {
		return nil, err
	}
	return archive.liveIn(c), nil
}

// liveIn returns the checkpoints of an archive that are also live in chain c and that the
// ledger of c does not mark as archived.
func (archive *chain) liveIn(c *chain) []checkpoint.ID {
	live := c.index()
	var both []checkpoint.ID
	for _, l := range archive.commits {
		if l.ID != "" && live[l.ID] != nil && !c.ledger.IsArchived(l.ID) {
			both = append(both, l.ID)
		}
	}
	return both
}

// tellFiled sets the archive facts of archived checkpoints from the ledger of the live
// chain. If the live chain cannot be read, the facts stay empty.
func (s *Store) tellFiled(ctx context.Context, issue checkpoint.Issue, list []Checkpoint) {
	if len(list) == 0 {
		return
	}
	known := ledger.New()
	if live, err := s.readChain(ctx, issue, LiveRef(issue), 1); err == nil {
		known = live.ledger
	}
	for i := range list {
		c := &list[i]
		c.Archived, c.Pinned, c.Filed = true, known.Pinned(c.ID), filed(known.Archived[c.ID])
	}
}

func filed(a ledger.Archival) Filed {
	if a.Reason == "" {
		return Filed{}
	}
	return Filed{retention.Reason(a.Reason), time.Unix(0, int64(a.Clock)).UTC()}
}
