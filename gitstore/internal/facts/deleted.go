package facts

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/repo"
)

// Deleted returns the ids of an issue's dropped checkpoints, sorted.
func (s *Facts) Deleted(ctx context.Context, issue checkpoint.Issue) ([]checkpoint.ID, error) {
	c, err := s.ReadChain(ctx, issue, repo.LiveRef(issue), 0)
	if err != nil {
		return nil, fmt.Errorf("read dropped checkpoints of issue %s: %w", issue, err)
	}
	if c.Ledger == nil {
		return nil, nil
	}
	return slices.Sorted(maps.Keys(c.Ledger.Deleted)), nil
}
