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
	err := s.alter(ctx, issue, func(c *chain, k *sink) (*change, error) {
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
func (s *Store) leaveArchive(archive *chain, ids map[checkpoint.ID]bool, k *sink) ([]refs.Move, error) {
	links := slices.DeleteFunc(slices.Clone(archive.links), func(l link) bool { return ids[l.ID] })
	if len(links) == len(archive.links) {
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

// Purge forgets what an issue's refs remember of dropped checkpoints: reflogs,
// safety snapshots, what was fetched. The objects go with git's next gc. It
// returns the refs of remotes that still carry one of ids.
func (s *Store) Purge(ctx context.Context, issue checkpoint.Issue, ids []checkpoint.ID) ([]string, error) {
	live, err := s.readRef(ctx, LiveRef(issue))
	if err != nil {
		return nil, err
	}
	archive, err := s.readChain(ctx, issue, ArchiveRef(issue), 0)
	if err != nil {
		return nil, err
	}
	var moves []refs.Move
	if !archive.tip.IsZero() && len(archive.checkpoints()) == 0 {
		moves = append(moves, refs.Move{Name: archive.ref, Old: archive.tip})
	}
	for _, name := range []string{fetchedRef(issue)} {
		if old, err := s.readRef(ctx, name); err == nil && !old.IsZero() && old != live {
			moves = append(moves, refs.Move{Name: name, Old: old})
		}
	}
	undo, err := s.undoRefs(ctx, issue)
	if err != nil {
		return nil, err
	}
	for name, old := range undo {
		moves = append(moves, refs.Move{Name: name, Old: old})
	}
	if len(moves) > 0 {
		if err := s.moveRefs(ctx, "purge", moves...); err != nil {
			return nil, fmt.Errorf("purge issue %s: %w", issue, err)
		}
	}
	for _, name := range []string{LiveRef(issue), ownRef(issue), ArchiveRef(issue)} {
		if tip, err := s.readRef(ctx, name); err != nil || tip.IsZero() {
			continue
		}
		if _, err := s.git.Output(ctx, "reflog", "expire", "--expire=now", "--expire-unreachable=now", name); err != nil {
			return nil, fmt.Errorf("purge issue %s: %w", issue, err)
		}
	}
	return s.carriers(ctx, issue, setOf(ids))
}

// carriers are the remote-tracking refs whose chain has one of ids.
func (s *Store) carriers(ctx context.Context, issue checkpoint.Issue, ids map[checkpoint.ID]bool) ([]string, error) {
	refs, err := s.refs.List(ctx, remoteRefs)
	if err != nil {
		return nil, err
	}
	var names []string
	for name, tip := range refs {
		c, err := s.walk(issue, name, tip, 0)
		if err == nil && slices.ContainsFunc(c.links, func(l link) bool { return ids[l.ID] }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}
