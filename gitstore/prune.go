package gitstore

import (
	"context"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/ledger"
	"git-checkpoint/gitstore/retention"
)

// A PruneRequest says how to apply retention to an issue.
type PruneRequest struct {
	Issue  checkpoint.Issue
	Policy retention.Policy
	MaxAge int    // days, 0 for no limit: an older chain without pins is archived
	DryRun bool   // decide, change nothing
	Plan   string // refuse unless the plan has this id, "" for any
}

// Pruned is what retention decided, and whether it was done.
type Pruned struct {
	Plan      string
	Decisions []retention.Decision // newest first
	Removed   []checkpoint.ID
	Archived  bool // the removed ones went to the archive, for their age
	Warnings  []string
}

// Prune applies retention to the whole chain of an issue.
func (s *Store) Prune(ctx context.Context, req PruneRequest) (*Pruned, error) {
	var result *Pruned
	err := s.alter(ctx, req.Issue, func(c *chain, k *sink) (*change, error) {
		var err error
		result, err = s.decide(c, req)
		if err != nil || req.DryRun || len(result.Removed) == 0 {
			return nil, err
		}
		if result.Archived {
			return s.toArchive(ctx, c, result.Removed, retention.ReasonAged, k)
		}
		ch := &change{verb: "prune", ids: result.Removed, remove: setOf(result.Removed)}
		if s.seenElsewhere(ctx, c) {
			newest := c.newestClock()
			ch.ledger = func(l *ledger.Ledger) { markPruned(l, result.Removed, newest) }
		}
		return ch, nil
	})
	if err != nil {
		return nil, fmt.Errorf("prune issue %s: %w", req.Issue, err)
	}
	return result, nil
}

// decide plans without acting.
func (s *Store) decide(c *chain, req PruneRequest) (*Pruned, error) {
	items := c.items()
	result := &Pruned{Warnings: retention.Warnings(req.Policy, items)}
	if req.MaxAge > 0 && retention.Aged(items, req.MaxAge, s.now()) {
		result.Archived = true
		rule := fmt.Sprintf("the whole chain is older than %d days: archived", req.MaxAge)
		for _, it := range items {
			result.Decisions = append(result.Decisions, retention.Decision{ID: it.ID, Rule: rule})
		}
	} else {
		result.Decisions = retention.Plan(req.Policy, items, s.now())
	}
	_, result.Removed = dropped(result.Decisions)
	result.Plan = retention.PlanID(result.Decisions)
	if req.Plan != "" && req.Plan != result.Plan {
		return nil, &RefusedError{
			Reason: fmt.Sprintf("the plan is now %s, not %s: the chain or the policy changed", result.Plan, req.Plan),
			Hint:   fmt.Sprintf("git checkpoint prune %s --dry-run", word(string(c.issue))),
		}
	}
	return result, nil
}
