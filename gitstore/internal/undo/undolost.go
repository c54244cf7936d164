package undo

import (
	"context"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/refs"

	"github.com/go-git/go-git/v5/plumbing"
)

// A removed holds checkpoints that a removal deleted and that are still missing, newest
// first, and the ledger from before the removal.
type removed struct {
	live     []chain.ChainCommit // were in the chain
	archived []chain.ChainCommit // were in the archive, and not moved there by this removal
	ledger   *ledger.Ledger
}

// removedBy returns checkpoints that a removal took from chain and archive.
func (s *Restorer) removedBy(ctx context.Context, c, archive *chain.Chain, e refs.Logged) (*removed, error) {
	r := &removed{}
	var err error
	if r.live, r.ledger, err = s.leftOut(c.Issue, c.Ref, e.Old, e.New); err != nil {
		return nil, err
	}
	if removal(e.Message) != "archive" {
		moves, err := s.Reflog(ctx, archive.Ref)
		if err != nil {
			return nil, err
		}
		same := func(m refs.Logged) bool { return m.Message == e.Message && m.At.Equal(e.At) }
		if i := slices.IndexFunc(moves, same); i >= 0 {
			if r.archived, _, err = s.leftOut(c.Issue, archive.Ref, moves[i].Old, moves[i].New); err != nil {
				return nil, err
			}
		}
	}
	r.keepLost(c, archive, removal(e.Message) == "drop")
	return r, nil
}

// leftOut returns the checkpoints that a chain had at the old tip and lacks at the new
// tip, and the ledger at the old tip.
func (s *Restorer) leftOut(issue checkpoint.Issue, ref string, old, new plumbing.Hash) ([]chain.ChainCommit, *ledger.Ledger, error) {
	before, err := s.Walk(issue, ref, old, 0)
	if err != nil {
		return nil, nil, err
	}
	after, err := s.Walk(issue, ref, new, 0)
	if err != nil {
		return nil, nil, err
	}
	still := after.Index()
	return slices.DeleteFunc(before.Commits, func(l chain.ChainCommit) bool {
		return l.Ledger || l.ID == "" || still[l.ID] != nil
	}), before.Ledger, nil
}

// keepLost removes checkpoints from r that were restored already, or deleted permanently
// by a later drop.
func (r *removed) keepLost(c, archive *chain.Chain, drop bool) {
	live, archived := c.Index(), archive.Index()
	r.live = slices.DeleteFunc(r.live, func(l chain.ChainCommit) bool {
		return live[l.ID] != nil || !drop && c.Ledger.Deleted[l.ID]
	})
	coming := chain.SetOf(idsOf(r.live))
	r.archived = slices.DeleteFunc(r.archived, func(l chain.ChainCommit) bool {
		return coming[l.ID] || live[l.ID] != nil || archived[l.ID] != nil
	})
}

// revive restores the old ledger entries of the removed checkpoints.
func (r *removed) revive(l *ledger.Ledger) {
	for _, id := range idsOf(append(slices.Clone(r.live), r.archived...)) {
		delete(l.Deleted, id)
		delete(l.Archived, id)
		delete(l.Pruned, id)
		if pin, ok := r.ledger.Pins[id]; ok && l.Pins[id].Clock <= pin.Clock {
			l.Pins[id] = pin
		}
	}
	for _, id := range idsOf(r.archived) {
		l.Archived[id] = r.ledger.Archived[id]
	}
}

func idsOf(links []chain.ChainCommit) []checkpoint.ID {
	ids := make([]checkpoint.ID, len(links))
	for i := range links {
		ids[i] = links[i].ID
	}
	return ids
}
