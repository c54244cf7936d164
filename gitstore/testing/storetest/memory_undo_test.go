package storetest_test

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
)

// A removal contains the entries that an operation removed, and the previous ledger.
type removal struct {
	what           string
	live, archived []entry
	ledger         *ledger.Ledger
}

// remove removes ids from chain and archive, records the removal for Undo, and calls note
// for each id to update the ledger.
func (c *chain) remove(what string, ids []checkpoint.ID, note func(checkpoint.ID)) {
	if len(ids) == 0 {
		return
	}
	c.removals = append(c.removals, removal{what, only(c.live, ids), only(c.archive, ids), c.ledger.Clone()})
	c.live, c.archive = except(c.live, ids), except(c.archive, ids)
	for _, id := range ids {
		if note != nil {
			note(id)
		}
	}
}

// Undo undoes the last prune, drop or archive of an issue. It restores removed
// checkpoints at their positions and keeps later saves.
func (s *memoryStore) Undo(_ context.Context, i checkpoint.Issue) (*gitstore.Undone, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chain(i)
	for at, r := range slices.Backward(c.removals) {
		live, archived := c.lost(r)
		if len(live)+len(archived) == 0 {
			continue
		}
		c.removals = slices.Delete(slices.Clone(c.removals), at, at+1)
		c.archive = merge(except(c.archive, idsOf(live)), archived)
		c.live = merge(c.live, live)
		c.revive(r.ledger, idsOf(live), idsOf(archived))
		return &gitstore.Undone{What: r.what, IDs: idsOf(slices.Concat(live, archived))}, nil
	}
	return nil, fmt.Errorf("undo for issue %s: %w", i, gitstore.ErrNothingToUndo)
}

// lost returns the entries of a removal that are still missing, without entries that a
// later drop deleted permanently.
func (c *chain) lost(r removal) (live, archived []entry) {
	live = except(r.live, idsOf(c.live))
	if r.what != "drop" {
		live = except(live, slices.Collect(maps.Keys(c.ledger.Deleted)))
	}
	return live, except(r.archived, slices.Concat(idsOf(live), idsOf(c.live), idsOf(c.archive)))
}

// revive restores the ledger's former entries for ids.
func (c *chain) revive(before *ledger.Ledger, live, archived []checkpoint.ID) {
	for _, id := range slices.Concat(live, archived) {
		delete(c.ledger.Deleted, id)
		delete(c.ledger.Archived, id)
		if pin, ok := before.Pins[id]; ok && c.ledger.Pins[id].Clock <= pin.Clock {
			c.ledger.Pins[id] = pin
		}
	}
	for _, id := range archived {
		c.ledger.Archived[id] = before.Archived[id]
	}
}

// Purge deletes all removed checkpoints permanently, so that Undo cannot restore them.
func (s *memoryStore) Purge(_ context.Context, i checkpoint.Issue, _ []checkpoint.ID) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chain(i)
	c.removals, c.filed = nil, len(c.archive) > 0
	return nil, nil
}
