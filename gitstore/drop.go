package gitstore

import (
	"context"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/refs"
)

// Drop permanently deletes live or archived checkpoints of an issue. The ledger prevents
// their return from another clone. If an id is in neither chain, Drop fails with
// *NotFoundError and deletes nothing. The empty id stands for foreign commits, which have
// no id.
func (s *Store) Drop(ctx context.Context, issue checkpoint.Issue, ids []checkpoint.ID) error {
	remove := setOf(ids)
	ids = slices.DeleteFunc(slices.Clone(ids), func(id checkpoint.ID) bool { return id == "" })
	err := s.alter(ctx, issue, func(c *chain, k *objectWriter) (*change, error) {
		archive, err := s.readChain(ctx, issue, ArchiveRef(issue), 0)
		if err != nil {
			return nil, err
		}
		live, archived := c.index(), archive.index()
		for _, id := range ids {
			if live[id] == nil && archived[id] == nil {
				return nil, &NotFoundError{Issue: issue, Name: string(id)}
			}
		}
		ch := &change{
			verb: "drop", ids: ids, remove: remove,
			ledger: func(l *ledger.Ledger) { bury(l, ids) },
		}
		ch.also, err = s.leaveArchive(archive, ch.remove, k)
		return ch, err
	})
	if err != nil {
		return fmt.Errorf("drop from issue %s: %w", issue, err)
	}
	return nil
}

// bury marks ids as deleted in the ledger. A deletion is final and overrides every other
// entry.
func bury(l *ledger.Ledger, ids []checkpoint.ID) {
	for _, id := range ids {
		l.Deleted[id] = true
		delete(l.Archived, id)
		delete(l.Pruned, id)
		delete(l.Pins, id)
	}
}

// leaveArchive removes checkpoints from an archive, and returns the move of the archive
// ref. It returns nil if the archive has no such checkpoint.
func (s *Store) leaveArchive(archive *chain, ids map[checkpoint.ID]bool, k *objectWriter) ([]refs.Move, error) {
	links := slices.DeleteFunc(slices.Clone(archive.commits), func(l chainCommit) bool { return ids[l.ID] })
	if len(links) == len(archive.commits) {
		return nil, nil
	}
	if archive.cut {
		return nil, archive.readOnly()
	}
	return s.archiveMove(archive, links, k), nil
}

func setOf(ids []checkpoint.ID) map[checkpoint.ID]bool {
	set := make(map[checkpoint.ID]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}
