package gitstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/ledger"
	"git-checkpoint/gitstore/retention"
)

// A PruneRequest says how to apply retention to an issue.
type PruneRequest struct {
	Issue  checkpoint.Issue
	Policy retention.Policy
	MaxAge int // days, 0 for no limit: an older chain without pins is archived

	// Closed says that the issue is closed: a chain without pins is archived.
	Closed bool

	// Stay says how long archived checkpoints stay, nil for ever.
	Stay *retention.Stay

	// Layouts has rules of chains that another system's documents make: what is
	// said there of the newest checkpoint's layout counts instead.
	Layouts map[string]LayoutRules

	Progress func(done, total int) // is told how much of the chain is rewritten, nil for nobody

	DryRun bool   // decide, change nothing
	Plan   string // refuse unless the plan has this id, "" for any
}

// LayoutRules are those of one layout's chains, 0 for what is as elsewhere.
type LayoutRules struct {
	MaxAge int // days
	Last   int // archivings
}

// Pruned is what retention decided, and whether it was done.
type Pruned struct {
	Plan      string
	Decisions []retention.Decision // newest first
	Removed   []checkpoint.ID      // from the chain
	Expired   []checkpoint.ID      // from the archive
	Archived  bool                 // the removed ones went to the archive, the whole chain
	Warnings  []string
}

// Prune applies retention to the whole chain of an issue, and to its archive.
func (s *Store) Prune(ctx context.Context, req PruneRequest) (*Pruned, error) {
	var result *Pruned
	act := s.alter
	if req.DryRun {
		act = s.consider
	}
	err := act(ctx, req.Issue, func(c *chain, k *objectWriter) (*change, error) {
		k.progress = req.Progress
		archive, err := s.readChain(ctx, req.Issue, ArchiveRef(req.Issue), 0)
		if err != nil {
			return nil, err
		}
		result, err = s.decide(c, archive, s.byLayout(c, archive, req))
		if err != nil || req.DryRun || len(result.Removed)+len(result.Expired) == 0 {
			return nil, err
		}
		if result.Archived {
			return s.toArchive(ctx, c, result.Removed, req.reason(), k)
		}
		return s.pruning(ctx, c, archive, result, k)
	})
	if err != nil {
		return nil, fmt.Errorf("prune issue %s: %w", req.Issue, err)
	}
	return result, nil
}

// consider lets decide look at an issue's chain as it is, and does nothing.
func (s *Store) consider(ctx context.Context, i checkpoint.Issue, decide func(c *chain, k *objectWriter) (*change, error)) error {
	c, err := s.readChain(ctx, i, LiveRef(i), 0)
	if err == nil {
		_, err = decide(c, s.newObjectWriter())
	}
	return err
}

// pruning is the change that does what was decided.
func (s *Store) pruning(ctx context.Context, c, archive *chain, p *Pruned, k *objectWriter) (ch *change, err error) {
	ch = &change{verb: "prune", ids: slices.Concat(p.Removed, p.Expired), remove: setOf(p.Removed)}
	elsewhere, newest := len(p.Removed) > 0 && s.seenElsewhere(ctx, c), c.newestClock()
	ch.ledger = func(l *ledger.Ledger) {
		if elsewhere {
			markPruned(l, p.Removed, newest)
		}
		bury(l, p.Expired)
	}
	ch.also, err = s.leaveArchive(archive, setOf(p.Expired), k)
	return ch, err
}

// byLayout is the request with the rules of the layout that the newest
// checkpoint, or the newest archived one, is of.
func (s *Store) byLayout(c, archive *chain, req PruneRequest) PruneRequest {
	newest := c.newest()
	if newest == nil {
		newest = archive.newest()
	}
	if newest == nil || len(req.Layouts) == 0 {
		return req
	}
	r, err := s.Record(newest)
	if err != nil {
		return req
	}
	rules := req.Layouts[r.Layout()]
	if rules.MaxAge > 0 {
		req.MaxAge = rules.MaxAge
	}
	if rules.Last > 0 && req.Stay != nil {
		stay := *req.Stay
		stay.Last, req.Stay = rules.Last, &stay
	}
	return req
}

// decide plans without acting. A chain that goes to the archive as a whole
// leaves what is there for the next time.
func (s *Store) decide(c, archive *chain, req PruneRequest) (*Pruned, error) {
	items := c.items()
	result := &Pruned{Warnings: retention.Warnings(req.Policy, items)}
	if rule := req.whole(items, s.now()); rule != "" {
		result.Archived = true
		for _, it := range items {
			result.Decisions = append(result.Decisions, retention.Decision{ID: it.ID, Rule: rule})
		}
	} else {
		full := &fullness{s: s, objects: s.objects, known: c.index()}
		result.Decisions = s.keepFuller(req.Policy, items, retention.Plan(req.Policy, items, s.now()), full)
	}
	_, result.Removed = dropped(result.Decisions)
	if !result.Archived {
		expired := s.expired(c, archive, req.Stay)
		result.Decisions = append(result.Decisions, expired...)
		_, result.Expired = dropped(expired)
	}
	result.Plan = retention.PlanID(result.Decisions)
	if req.Plan != "" && req.Plan != result.Plan {
		return nil, &RefusedError{
			Reason: fmt.Sprintf("the plan is now %s, not %s: the chain or the policy changed", result.Plan, req.Plan),
			Hint:   fmt.Sprintf("git checkpoint prune %s --dry-run", shellQuote(string(c.issue))),
		}
	}
	return result, nil
}

// expired decides which archived checkpoints go. What the chain still has is
// not the archive's to drop.
func (s *Store) expired(c, archive *chain, stay *retention.Stay) []retention.Decision {
	if stay == nil || archive.cut {
		return nil
	}
	live := c.index()
	var list []retention.Archived
	for _, cp := range archive.checkpoints() {
		if cp.ID == "" || live[cp.ID] != nil {
			continue
		}
		f := filed(c.ledger.Archived[cp.ID])
		list = append(list, retention.Archived{ID: cp.ID, Why: f.Why, At: f.At, Pinned: c.ledger.Pinned(cp.ID)})
	}
	return stay.Expired(list, s.now())
}

// whole is the rule by which a whole chain goes to the archive, "" for none.
func (req *PruneRequest) whole(items []retention.Item, now time.Time) string {
	switch {
	case req.Closed && retention.Whole(items):
		return "the issue is closed: archived"
	case req.MaxAge > 0 && retention.Aged(items, req.MaxAge, now):
		return fmt.Sprintf("the whole chain is older than %d days: archived", req.MaxAge)
	}
	return ""
}

// reason is why a whole chain is archived.
func (req *PruneRequest) reason() retention.Reason {
	if req.Closed {
		return retention.ReasonCompleted
	}
	return retention.ReasonAged
}
