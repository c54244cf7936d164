package gitstore

import (
	"context"
	"errors"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/refs"
)

// separate removes live checkpoints from an issue's archive, and returns removed ids.
// Such duplicates remain if power loss, or a kill of an earlier version, separated both
// ref moves. It requires the issue lock.
func (s *Store) separate(ctx context.Context, i checkpoint.Issue) ([]checkpoint.ID, error) {
	if tip, err := s.readRef(ctx, ArchiveRef(i)); err != nil || tip.IsZero() {
		return nil, err
	}
	archive, err := s.readChain(ctx, i, ArchiveRef(i), 0)
	if err != nil {
		return nil, err
	}
	live, err := s.readChain(ctx, i, LiveRef(i), 0)
	if err != nil {
		return nil, err
	}
	both, k := archive.liveIn(live), s.newObjectWriter()
	moves, err := s.leaveArchive(archive, setOf(both), k)
	if err != nil || len(moves) == 0 {
		return nil, err
	}
	message := shorten("repair: " + joinIDs(both))
	if err := s.publish(ctx, k, message, func() ([]refs.Move, error) { return moves, nil }); err != nil {
		return nil, err
	}
	return both, k.protect(ctx)
}

// separateFirst runs separate before a change of the issue. It only fails with
// errRefMoved, because the change itself reports unreadable chains.
func (s *Store) separateFirst(ctx context.Context, i checkpoint.Issue) error {
	both, err := s.separate(ctx, i)
	switch {
	case errors.Is(err, errRefMoved):
		return err
	case err == nil && len(both) > 0:
		s.notify("issue %s: removed from the archive what is in the chain: %s", i, joinIDs(both))
	}
	return nil
}

// clearArchive runs separate under the issue lock.
func (s *Store) clearArchive(ctx context.Context, issue checkpoint.Issue) error {
	err := s.retry(ctx, issue, func() error {
		_, err := s.separate(ctx, issue)
		return err
	})
	if err != nil {
		return fmt.Errorf("repair the archive of issue %s: %w", issue, err)
	}
	return nil
}
