package gitstore

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
)

// Deleted returns the ids of an issue's dropped checkpoints, sorted.
func (s *Store) Deleted(ctx context.Context, issue checkpoint.Issue) ([]checkpoint.ID, error) {
	c, err := s.readChain(ctx, issue, LiveRef(issue), 0)
	if err != nil {
		return nil, fmt.Errorf("read dropped checkpoints of issue %s: %w", issue, err)
	}
	if c.ledger == nil {
		return nil, nil
	}
	return slices.Sorted(maps.Keys(c.ledger.Deleted)), nil
}
