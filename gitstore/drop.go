package gitstore

import (
	"context"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/ledger"
	"git-checkpoint/gitstore/refs"
)

// Drop deletes checkpoints of an issue, live or archived, for good: the
// ledger keeps another clone from bringing them back. Ids that are in neither
// chain fail with *NotFoundError, and nothing is dropped. The empty id stands
// for commits that name none, which are no checkpoints.
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

// bury makes ids deleted, which is final and beats all else.
func bury(l *ledger.Ledger, ids []checkpoint.ID) {
	for _, id := range ids {
		l.Deleted[id] = true
		delete(l.Archived, id)
		delete(l.Pruned, id)
		delete(l.Pins, id)
	}
}

// leaveArchive takes checkpoints out of an archive and returns the move of
// its ref, none when the archive has none of them.
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
