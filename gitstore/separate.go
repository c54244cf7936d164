package gitstore

import (
	"context"
	"errors"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/refs"
)

// separate removes the checkpoints from an issue's archive that are in its chain,
// and returns their ids: a loss of power, or an earlier version that was killed,
// has moved one of the two refs alone. It runs with the issue locked.
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

// separateFirst is separate before a change of the issue. It fails with errRefMoved
// alone: the change reports what it cannot read.
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

// clearArchive is separate by itself.
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
