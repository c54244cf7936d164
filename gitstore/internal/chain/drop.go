package chain

import (
	"context"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"
)

// Drop permanently deletes live or archived checkpoints of an issue. The ledger prevents
// their return from another clone. If an id is in neither chain, Drop fails with
// *NotFoundError and deletes nothing. The empty id stands for foreign commits, which have
// no id.
func (s *Chains) Drop(ctx context.Context, issue checkpoint.Issue, ids []checkpoint.ID) error {
	remove := SetOf(ids)
	ids = slices.DeleteFunc(slices.Clone(ids), func(id checkpoint.ID) bool { return id == "" })
	err := s.Alter(ctx, issue, func(c *Chain, k *repo.ObjectWriter) (*Change, error) {
		archive, err := s.ReadChain(ctx, issue, repo.ArchiveRef(issue), 0)
		if err != nil {
			return nil, err
		}
		live, archived := c.Index(), archive.Index()
		for _, id := range ids {
			if live[id] == nil && archived[id] == nil {
				return nil, &repo.NotFoundError{Issue: issue, Name: string(id)}
			}
		}
		ch := &Change{
			Verb: "drop", Ids: ids, Remove: remove,
			Ledger: func(l *ledger.Ledger) { Bury(l, ids) },
		}
		ch.Also, err = s.LeaveArchive(archive, ch.Remove, k)
		return ch, err
	})
	if err != nil {
		return fmt.Errorf("drop from issue %s: %w", issue, err)
	}
	return nil
}

// Bury marks ids as deleted in the ledger. A deletion is final and overrides every other
// entry.
func Bury(l *ledger.Ledger, ids []checkpoint.ID) {
	for _, id := range ids {
		l.Deleted[id] = true
		delete(l.Archived, id)
		delete(l.Pruned, id)
		delete(l.Pins, id)
	}
}

// LeaveArchive removes checkpoints from an archive, and returns the move of the archive
// ref. It returns nil if the archive has no such checkpoint.
func (s *Chains) LeaveArchive(archive *Chain, ids map[checkpoint.ID]bool, k *repo.ObjectWriter) ([]refs.Move, error) {
	links := slices.DeleteFunc(slices.Clone(archive.Commits), func(l ChainCommit) bool { return ids[l.ID] })
	if len(links) == len(archive.Commits) {
		return nil, nil
	}
	if archive.Cut {
		return nil, archive.ReadOnly()
	}
	return s.ArchiveMove(archive, links, k), nil
}

func SetOf(ids []checkpoint.ID) map[checkpoint.ID]bool {
	set := make(map[checkpoint.ID]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}
