package save

import (
	"context"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/retention"
)

// A PruneRequest holds the parameters of a prune.
type PruneRequest struct {
	Issue  checkpoint.Issue
	Policy retention.Policy
	MaxAge int // in days, 0 for no limit; an older chain without pins is archived

	// Closed is set if the issue is closed: a chain without pins is archived.
	Closed bool

	// Stay limits how long archived checkpoints are kept; nil disables expiry.
	Stay *retention.Stay

	// Layouts has rules for chains that come from another system's documents. Rules for
	// the newest checkpoint's layout override MaxAge and Stay.
	Layouts map[string]LayoutRules

	Progress func(done, total int) // receives the progress of the rewrite, may be nil

	DryRun bool   // decide, but change nothing
	Plan   string // fail unless the plan has this id, "" for any
}

// LayoutRules are the rules for chains of one layout. A zero field keeps the general
// rule.
type LayoutRules struct {
	MaxAge int // in days
	Last   int // number of archivals to keep
}

// A Pruned is the result of a prune.
type Pruned struct {
	Plan      string
	Decisions []retention.Decision // newest first
	Removed   []checkpoint.ID      // from the chain
	Expired   []checkpoint.ID      // from the archive
	Archived  bool                 // the removed checkpoints, the whole chain, were archived
	Warnings  []string
}

// Prune applies retention to an issue's chain and archive.
func (s *Saver) Prune(ctx context.Context, req PruneRequest) (*Pruned, error) {
	var result *Pruned
	act := s.Alter
	if req.DryRun {
		act = s.consider
	}
	err := act(ctx, req.Issue, func(c *chain.Chain, k *repo.ObjectWriter) (*chain.Change, error) {
		k.Progress = req.Progress
		archive, err := s.ReadChain(ctx, req.Issue, repo.ArchiveRef(req.Issue), 0)
		if err != nil {
			return nil, err
		}
		result, err = s.decide(c, archive, s.byLayout(c, archive, req))
		if err != nil || req.DryRun || len(result.Removed)+len(result.Expired) == 0 {
			return nil, err
		}
		if result.Archived {
			return s.ToArchive(ctx, c, result.Removed, req.reason(), k)
		}
		return s.pruning(ctx, c, archive, result, k)
	})
	if err != nil {
		return nil, fmt.Errorf("prune issue %s: %w", req.Issue, err)
	}
	return result, nil
}

// consider calls decide with an issue's chain, without lock or changes.
func (s *Saver) consider(ctx context.Context, i checkpoint.Issue, decide func(c *chain.Chain, k *repo.ObjectWriter) (*chain.Change, error)) error {
	c, err := s.ReadChain(ctx, i, repo.LiveRef(i), 0)
	if err == nil {
		_, err = decide(c, s.NewObjectWriter())
	}
	return err
}

// pruning returns the change that executes the decisions.
func (s *Saver) pruning(ctx context.Context, c, archive *chain.Chain, p *Pruned, k *repo.ObjectWriter) (ch *chain.Change, err error) {
	ch = &chain.Change{Verb: "prune", Ids: slices.Concat(p.Removed, p.Expired), Remove: chain.SetOf(p.Removed)}
	elsewhere, newest := len(p.Removed) > 0 && s.seenElsewhere(ctx, c), c.NewestClock()
	ch.Ledger = func(l *ledger.Ledger) {
		if elsewhere {
			markPruned(l, p.Removed, newest)
		}
		chain.Bury(l, p.Expired)
	}
	ch.Also, err = s.LeaveArchive(archive, chain.SetOf(p.Expired), k)
	return ch, err
}

// byLayout returns the request with layout rules of the newest live or archived
// checkpoint.
func (s *Saver) byLayout(c, archive *chain.Chain, req PruneRequest) PruneRequest {
	newest := c.Newest()
	if newest == nil {
		newest = archive.Newest()
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

// decide returns the plan. If the whole chain is archived, old archived checkpoints stay
// until the next prune.
func (s *Saver) decide(c, archive *chain.Chain, req PruneRequest) (*Pruned, error) {
	items := c.Items()
	result := &Pruned{Warnings: retention.Warnings(req.Policy, items)}
	if rule := req.whole(items, s.Now()); rule != "" {
		result.Archived = true
		for _, it := range items {
			result.Decisions = append(result.Decisions, retention.Decision{ID: it.ID, Rule: rule})
		}
	} else {
		full := &fullness{s: s, objects: s.Objects, known: c.Index()}
		result.Decisions = s.keepFuller(req.Policy, items, retention.Plan(req.Policy, items, s.Now()), full)
	}
	_, result.Removed = Dropped(result.Decisions)
	if !result.Archived {
		expired := s.expired(c, archive, req.Stay)
		result.Decisions = append(result.Decisions, expired...)
		_, result.Expired = Dropped(expired)
	}
	result.Plan = retention.PlanID(result.Decisions)
	if req.Plan != "" && req.Plan != result.Plan {
		return nil, &repo.RefusedError{
			Reason: fmt.Sprintf("the plan is now %s, not %s: the chain or the policy changed", result.Plan, req.Plan),
			Hint:   fmt.Sprintf("git checkpoint prune %s --dry-run", repo.ShellQuote(string(c.Issue))),
		}
	}
	return result, nil
}

// expired returns the decisions for archived checkpoints. It skips checkpoints that are
// also live.
func (s *Saver) expired(c, archive *chain.Chain, stay *retention.Stay) []retention.Decision {
	if stay == nil || archive.Cut {
		return nil
	}
	live := c.Index()
	var list []retention.Archived
	for _, cp := range archive.Checkpoints() {
		if cp.ID == "" || live[cp.ID] != nil {
			continue
		}
		f := chain.FiledOf(c.Ledger.Archived[cp.ID])
		list = append(list, retention.Archived{ID: cp.ID, Why: f.Why, At: f.At, Pinned: c.Ledger.Pinned(cp.ID)})
	}
	return stay.Expired(list, s.Now())
}

// whole returns the rule for archiving a whole chain, or "".
func (req *PruneRequest) whole(items []retention.Item, now time.Time) string {
	switch {
	case req.Closed && retention.Whole(items):
		return "the issue is closed: archived"
	case req.MaxAge > 0 && retention.Aged(items, req.MaxAge, now):
		return fmt.Sprintf("the whole chain is older than %d days: archived", req.MaxAge)
	}
	return ""
}

// reason returns the reason for archiving a whole chain.
func (req *PruneRequest) reason() retention.Reason {
	if req.Closed {
		return retention.ReasonCompleted
	}
	return retention.ReasonAged
}
