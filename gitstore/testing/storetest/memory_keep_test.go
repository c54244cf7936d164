package storetest_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/retention"
)

// Pin pins or unpins a checkpoint, which protects it from all retention rules. It reports
// whether that changed the pin.
func (s *memoryStore) Pin(_ context.Context, i checkpoint.Issue, id checkpoint.ID, on bool) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chain(i)
	if c.find(id) == nil {
		return false, fmt.Errorf("pin %s: %w", id, &gitstore.NotFoundError{Issue: i, Name: string(id)})
	}
	changed := c.ledger.Pinned(id) != on
	if changed {
		c.ledger.SetPin(id, on, s.now())
	}
	return changed, nil
}

// Drop permanently deletes live or archived checkpoints of an issue.
func (s *memoryStore) Drop(_ context.Context, i checkpoint.Issue, ids []checkpoint.ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chain(i)
	for _, id := range ids {
		if c.find(id) == nil {
			return fmt.Errorf("drop from issue %s: %w", i, &gitstore.NotFoundError{Issue: i, Name: string(id)})
		}
	}
	c.remove("drop", ids, c.bury)
	return nil
}

// bury marks an id as deleted, which overrides archive and pins.
func (c *chain) bury(id checkpoint.ID) {
	c.ledger.Deleted[id] = true
	delete(c.ledger.Archived, id)
	delete(c.ledger.Pins, id)
}

// Archive moves checkpoints from an issue's chain to its archive, all if ids is empty. It
// returns the moved ids.
func (s *memoryStore) Archive(_ context.Context, i checkpoint.Issue, ids []checkpoint.ID, why retention.Reason) ([]checkpoint.ID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chain(i)
	live := idsOf(c.live)
	for _, id := range ids {
		if !slices.Contains(live, id) {
			return nil, fmt.Errorf("archive of issue %s: %w", i, &gitstore.NotFoundError{Issue: i, Name: string(id)})
		}
	}
	if len(live) == 0 {
		return nil, fmt.Errorf("archive of issue %s: %w", i, &gitstore.NoneError{Issue: i})
	}
	if len(ids) > 0 {
		live = slices.DeleteFunc(live, func(id checkpoint.ID) bool { return !slices.Contains(ids, id) })
	}
	c.file(live, why, s.now())
	return live, nil
}

// file moves ids to the archive.
func (c *chain) file(ids []checkpoint.ID, why retention.Reason, now time.Time) {
	noted := ledger.Archival{Reason: string(why), Clock: checkpoint.ClockAt(now)}
	moving := only(c.live, ids)
	c.remove("archive", ids, func(id checkpoint.ID) { c.ledger.Archived[id] = noted })
	c.archive, c.filed = merge(c.archive, moving), true
}

func filed(a ledger.Archival) gitstore.Filed {
	if a.Reason == "" {
		return gitstore.Filed{}
	}
	return gitstore.Filed{Why: retention.Reason(a.Reason), At: time.Unix(0, int64(a.Clock)).UTC()}
}

// thin returns the ids that retention drops at a save.
func (c *chain) thin(p retention.Policy, coming entry, now time.Time) []checkpoint.ID {
	if p == nil {
		return nil
	}
	return gone(retention.PlanSave(p, c.items(slices.Concat([]entry{coming}, c.live)), now))
}

// items converts checkpoints to retention items.
func (c *chain) items(entries []entry) []retention.Item {
	items := make([]retention.Item, len(entries))
	for i, e := range entries {
		items[i] = retention.Item{
			ID: e.ID, Trigger: e.Trigger, Phase: e.Phase, Branch: e.Branch, Created: e.Created, Clock: e.Clock,
			Pinned: c.ledger.Pinned(e.ID), Resumable: e.Resumable, Valid: e.Valid(),
		}
	}
	return items
}

// Prune applies retention to the chain and archive of an issue.
func (s *memoryStore) Prune(_ context.Context, req gitstore.PruneRequest) (*gitstore.Pruned, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chain(req.Issue)
	p := c.plan(req, s.now())
	switch {
	case req.Plan != "" && req.Plan != p.Plan:
		reason := fmt.Sprintf("the plan is now %s, not %s: the chain or the policy changed", p.Plan, req.Plan)
		return nil, fmt.Errorf("prune issue %s: %w", req.Issue, &gitstore.RefusedError{Reason: reason})
	case req.DryRun:
	case p.Archived && req.Closed:
		c.file(p.Removed, retention.ReasonCompleted, s.now())
	case p.Archived:
		c.file(p.Removed, retention.ReasonAged, s.now())
	default:
		c.remove("prune", slices.Concat(p.Removed, p.Expired), func(id checkpoint.ID) {
			if slices.Contains(p.Expired, id) {
				c.bury(id)
			}
		})
	}
	return p, nil
}

// plan returns decisions without applying them.
func (c *chain) plan(req gitstore.PruneRequest, now time.Time) *gitstore.Pruned {
	items := c.items(c.live)
	p := &gitstore.Pruned{Warnings: retention.Warnings(req.Policy, items), Decisions: retention.Plan(req.Policy, items, now)}
	rule := ""
	aged, _ := retention.Aged(items, req.MaxAge, now, now)
	switch {
	case req.Closed && retention.Whole(items):
		rule = "the issue is closed: archived"
	case req.MaxAge > 0 && aged:
		rule = fmt.Sprintf("the whole chain is older than %d days: archived", req.MaxAge)
	}
	if p.Archived = rule != ""; p.Archived {
		for i := range p.Decisions {
			p.Decisions[i] = retention.Decision{ID: p.Decisions[i].ID, Rule: rule}
		}
	}
	p.Removed = gone(p.Decisions)
	if req.Stay != nil && !p.Archived {
		expired := req.Stay.Expired(c.archived(), now)
		p.Decisions, p.Expired = append(p.Decisions, expired...), gone(expired)
	}
	p.Plan = retention.PlanID(p.Decisions)
	return p
}

// archived converts the archive to retention input.
func (c *chain) archived() []retention.Archived {
	var list []retention.Archived
	for _, e := range c.archive {
		f := filed(c.ledger.Archived[e.ID])
		list = append(list, retention.Archived{ID: e.ID, Why: f.Why, At: f.At, Pinned: c.ledger.Pinned(e.ID)})
	}
	return list
}

func gone(ds []retention.Decision) []checkpoint.ID {
	var ids []checkpoint.ID
	for _, d := range ds {
		if !d.Keep {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

func idsOf(entries []entry) []checkpoint.ID {
	ids := make([]checkpoint.ID, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	return ids
}

// only returns the entries with these ids. except returns all other entries.
func only(entries []entry, ids []checkpoint.ID) []entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return !slices.Contains(ids, e.ID) })
}

func except(entries []entry, ids []checkpoint.ID) []entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return slices.Contains(ids, e.ID) })
}

// merge merges entries by clock, newest first.
func merge(entries, more []entry) []entry {
	return slices.SortedStableFunc(slices.Values(slices.Concat(entries, more)), func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.Clock, a.Clock), cmp.Compare(b.ID, a.ID))
	})
}
