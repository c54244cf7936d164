package chain

import (
	"context"
	"errors"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"
)

// separate removes live checkpoints from an issue's archive, and returns removed ids.
// Such duplicates remain if power loss, or a kill of an earlier version, separated both
// ref moves. It requires the issue lock.
func (s *Chains) separate(ctx context.Context, i checkpoint.Issue) ([]checkpoint.ID, error) {
	if tip, err := s.ReadRef(ctx, repo.ArchiveRef(i)); err != nil || tip.IsZero() {
		return nil, err
	}
	archive, err := s.ReadChain(ctx, i, repo.ArchiveRef(i), 0)
	if err != nil {
		return nil, err
	}
	live, err := s.ReadChain(ctx, i, repo.LiveRef(i), 0)
	if err != nil {
		return nil, err
	}
	both, k := archive.liveIn(live), s.NewObjectWriter()
	moves, err := s.LeaveArchive(archive, SetOf(both), k)
	if err != nil || len(moves) == 0 {
		return nil, err
	}
	message := repo.Shorten("repair: " + repo.JoinIDs(both))
	if err := s.Publish(ctx, k, message, func() ([]refs.Move, error) { return moves, nil }); err != nil {
		return nil, err
	}
	return both, k.Protect(ctx)
}

// separateFirst runs separate before a change of the issue. It only fails with
// ErrRefMoved, because the change itself reports unreadable chains.
func (s *Chains) separateFirst(ctx context.Context, i checkpoint.Issue) error {
	both, err := s.separate(ctx, i)
	switch {
	case errors.Is(err, repo.ErrRefMoved):
		return err
	case err == nil && len(both) > 0:
		s.Notify("issue %s: removed from the archive what is in the chain: %s", i, repo.JoinIDs(both))
	}
	return nil
}

// ClearArchive removes from an issue's archive the checkpoints that its chain contains too.
func (s *Chains) ClearArchive(ctx context.Context, issue checkpoint.Issue) error {
	err := s.Retry(ctx, issue, func() error {
		_, err := s.separate(ctx, issue)
		return err
	})
	if err != nil {
		return fmt.Errorf("repair the archive of issue %s: %w", issue, err)
	}
	return nil
}
