package gitstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/ledger"
	"git-checkpoint/gitstore/refs"
	"git-checkpoint/gitstore/retention"
)

// Archive moves checkpoints from an issue's chain to its archive; no ids
// means all of them. The ledger notes why and when, for every clone, and so
// for how long they stay there. It returns the ids that were moved.
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

// liveOnes are the ids to archive, newest first, all of the chain when none
// are named.
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

// archiveMove is the move of an archive's ref to these commits, none when it is
// there already.
func (s *Store) archiveMove(archive *chain, links []chainCommit, k *objectWriter) []refs.Move {
	if tip := s.rebuild(archive, links, k); tip != archive.tip {
		return []refs.Move{{Name: archive.ref, Old: archive.tip, New: tip}}
	}
	return nil
}

// toArchive is the change that moves ids of c to the archive.
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

// inBoth returns the checkpoints of an issue that are in its chain and in its
// archive, newest first. Those that the ledger says to be archived are left out:
// they leave the chain with the next sync.
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

// liveIn returns the checkpoints of an archive that chain c has for good.
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

// tellFiled says of archived checkpoints what the ledger does, which is the
// live chain's: nothing where that cannot be read.
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
