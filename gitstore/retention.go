package gitstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/retention"
	"git-checkpoint/gitstore/trace"

	"github.com/go-git/go-git/v5/plumbing"
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

	// Unshared is set if a chain that another clone may have stays as it is.
	Unshared bool

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
	Doubts    []string             // why checkpoints stay although a rule of age would remove them
	Warnings  []string
}

// Prune applies retention to an issue's chain and archive.
func (s *Store) Prune(ctx context.Context, req PruneRequest) (*Pruned, error) {
	defer trace.Begin(trace.Step, "prune").End()
	var result *Pruned
	act := func(ctx context.Context, i checkpoint.Issue, decide func(*chain.Chain, *repo.ObjectWriter) (*chain.Change, error)) error {
		return s.Operate(ctx, "prune", i, func() error { return s.chain.Alter(ctx, i, decide) })
	}
	if req.DryRun { // without lock or changes
		act = func(ctx context.Context, i checkpoint.Issue, decide func(*chain.Chain, *repo.ObjectWriter) (*chain.Change, error)) error {
			c, err := s.chain.ReadChain(ctx, i, repo.LiveRef(i), 0)
			if err == nil {
				_, err = decide(c, s.repo.NewObjectWriter())
			}
			return err
		}
	}
	err := act(ctx, req.Issue, func(c *chain.Chain, k *repo.ObjectWriter) (*chain.Change, error) {
		if req.Unshared && s.chain.SeenElsewhere(ctx, c) {
			result = &Pruned{}
			return nil, nil
		}
		archive, err := s.chain.ReadChain(ctx, req.Issue, repo.ArchiveRef(req.Issue), 0)
		if err != nil {
			return nil, err
		}
		result, err = s.decide(ctx, c, archive, s.byLayout(c, archive, req))
		if err != nil || req.DryRun || len(result.Removed)+len(result.Expired) == 0 {
			return nil, err
		}
		if result.Archived {
			why := retention.ReasonAged
			if req.Closed {
				why = retention.ReasonCompleted
			}
			return s.chain.ToArchive(ctx, c, result.Removed, true, why, k)
		}
		ch := &chain.Change{Verb: "prune", Ids: slices.Concat(result.Removed, result.Expired), Remove: chain.SetOf(result.Removed)}
		elsewhere, newest := len(result.Removed) > 0 && s.chain.SeenElsewhere(ctx, c), c.NewestClock()
		ch.Ledger = func(l *ledger.Ledger) {
			if elsewhere {
				markPruned(l, result.Removed, newest, c)
			}
			chain.Bury(l, result.Expired, archive)
		}
		ch.Then = s.chain.LeaveArchive(archive, chain.SetOf(result.Expired), k)
		return ch, nil
	})
	if err != nil {
		return nil, fmt.Errorf("prune issue %s: %w", req.Issue, err)
	}
	return result, nil
}

// dropped returns the ids that have no decision to keep a commit, as a set and as a list.
func dropped(decisions []retention.Decision) (map[checkpoint.ID]bool, []checkpoint.ID) {
	kept := map[checkpoint.ID]bool{}
	for _, d := range decisions {
		kept[d.ID] = kept[d.ID] || d.Keep
	}
	set := map[checkpoint.ID]bool{}
	var ids []checkpoint.ID
	for _, d := range decisions {
		if d.ID != "" && !kept[d.ID] && !set[d.ID] {
			set[d.ID] = true
			ids = append(ids, d.ID)
		}
	}
	return set, ids
}

// byLayout returns the request with layout rules of the newest live or archived
// checkpoint.
func (s *Store) byLayout(c, archive *chain.Chain, req PruneRequest) PruneRequest {
	newest := c.Newest()
	if newest == nil {
		newest = archive.Newest()
	}
	if newest == nil || len(req.Layouts) == 0 {
		return req
	}
	r, err := s.chain.Record(newest)
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
func (s *Store) decide(ctx context.Context, c, archive *chain.Chain, req PruneRequest) (*Pruned, error) {
	items := c.Items()
	result := &Pruned{Warnings: retention.Warnings(req.Policy, items)}
	var newest time.Time
	if req.MaxAge > 0 || req.Stay != nil && len(archive.Commits) > 0 { // otherwise no rule of age applies
		newest = s.chain.NewestCommit(ctx)
	}
	rule, doubt := req.whole(items, newest, s.repo.Now())
	if doubt != "" {
		result.Doubts = append(result.Doubts, "the chain is not archived for its age: "+doubt)
	}
	if rule != "" {
		result.Archived = true
		for _, it := range items {
			result.Decisions = append(result.Decisions, retention.Decision{ID: it.ID, Rule: rule})
		}
	} else {
		var err error
		planned := retention.Plan(req.Policy, items)
		if result.Decisions, err = s.keepWork(req.Policy, items, planned, c.Index(), nil, s.repo.Objects); err != nil {
			return nil, err
		}
	}
	_, result.Removed = dropped(result.Decisions)
	if !result.Archived {
		expired := s.expired(c, archive, req.Stay, newest)
		result.Decisions = append(result.Decisions, expired...)
		_, result.Expired = dropped(expired)
		result.Doubts = append(result.Doubts, doubtsOf(expired)...)
	}
	result.Plan = retention.PlanID(result.Decisions)
	if req.Plan != "" && req.Plan != result.Plan {
		return nil, &repo.RefusedError{
			Reason: fmt.Sprintf("the plan is now %s, not %s: the chain or the policy changed", result.Plan, req.Plan),
			Hint:   fmt.Sprintf("git checkpoint prune %s --dry-run", failure.IssueArg(string(c.Issue))),
		}
	}
	return result, nil
}

// expired returns the decisions for archived checkpoints. It skips checkpoints that are
// also live.
func (s *Store) expired(c, archive *chain.Chain, stay *retention.Stay, newest time.Time) []retention.Decision {
	if stay == nil || archive.Cut {
		return nil
	}
	live := c.Index()
	var list []retention.Archived
	known := archive.Index()
	for _, cp := range archive.Checkpoints() {
		if cp.ID == "" || live[cp.ID] != nil {
			continue
		}
		f := c.Ledger.Archival(cp.ID)
		list = append(list, retention.Archived{
			ID: cp.ID, Why: f.Why, At: f.At, Pinned: c.Ledger.Pinned(cp.ID),
			Times: retention.Times{Created: cp.Saved, Clock: cp.Clock, Newest: newest},
		})
	}
	// The commit of HEAD is only read for checkpoints that would expire.
	gone, _ := dropped(stay.Expired(list, s.repo.Now()))
	for i := range list {
		if gone[list[i].ID] {
			list[i].Times.Base = s.chain.BaseTime(&known[list[i].ID].Checkpoint)
		}
	}
	return stay.Expired(list, s.repo.Now())
}

// doubtsOf returns each doubt once, with the number of checkpoints that it keeps.
func doubtsOf(decisions []retention.Decision) []string {
	counts := map[string]int{}
	for _, d := range decisions {
		if d.Doubt != "" {
			counts[d.Doubt]++
		}
	}
	var doubts []string
	for _, doubt := range slices.Sorted(maps.Keys(counts)) {
		doubts = append(doubts, fmt.Sprintf("archived checkpoints that would expire (%d) are kept: %s", counts[doubt], doubt))
	}
	return doubts
}

// whole returns the rule for archiving a whole chain, or "". If the age of the chain is in
// doubt, it returns the doubt.
func (req *PruneRequest) whole(items []retention.Item, newest, now time.Time) (rule, doubt string) {
	if req.Closed && retention.Whole(items) {
		return "the issue is closed: archived", ""
	}
	if req.MaxAge <= 0 {
		return "", ""
	}
	aged, doubt := retention.Aged(items, req.MaxAge, newest, now)
	if !aged {
		return "", doubt
	}
	return fmt.Sprintf("the whole chain is older than %d days: archived", req.MaxAge), ""
}

// A parent is the commit below a new checkpoint, with the ledger of its chain.
type parent struct {
	commit plumbing.Hash
	ledger *ledger.Ledger
}

// applyRetention applies retention to the newest part of a chain, with record r on top.
// It returns the parent for the commit of r and the dropped ids. If an error occurs,
// nothing is dropped and the save continues.
func (s *Store) applyRetention(ctx context.Context, below *chain.Chain, p retention.Policy, r *checkpoint.Record, coming *work, k *repo.ObjectWriter) (parent, []checkpoint.ID) {
	plain := parent{below.Tip, below.Ledger}
	if below.Tip.IsZero() {
		plain.commit = chain.Genesis(below.Issue).Hash
	}
	newest := below.Newest()
	if p == nil || newest == nil || !mayDrop(p, r.Trigger(), newest) {
		return plain, nil
	}
	c, err := s.chain.Walk(below.Issue, below.Ref, below.Tip, chain.RetentionDepth)
	if err != nil || c.Cut || c.Unread != nil { // pins are unknown
		return plain, nil
	}
	item := retention.Item{ID: r.ID(), Trigger: r.Trigger(), Phase: r.Phase(), Branch: r.Branch(), Resumable: r.CanResume(), Valid: true}
	items := append([]retention.Item{item}, c.Items()...)
	planned := retention.PlanSave(p, items)
	if drop, ids := dropped(planned); len(ids) == 0 || awaitsTurns(p, items, drop) {
		return plain, nil // before the states of checkpoints are compared
	}
	decisions, err := s.keepWork(p, items, planned, c.Index(), coming, k)
	drop, ids := dropped(decisions)
	if err != nil || len(ids) == 0 || awaitsTurns(p, items, drop) {
		return plain, nil
	}
	known := c.Ledger.Clone()
	if s.chain.SeenElsewhere(ctx, c) {
		markPruned(known, ids, max(c.NewestClock(), r.Clock()), c)
	}
	links := slices.DeleteFunc(slices.Clone(c.Commits), func(l chain.ChainCommit) bool { return drop[l.ID] })
	return parent{s.chain.Rebuild(c, links, k), known}, ids
}

// mostTurns limits the number of turns that wait until a save drops them together.
const mostTurns = 20

// awaitsTurns reports whether retention drops only turns, and fewer turns than it keeps.
// A save that drops the oldest turn rewrites the commits of all later turns. If a save at
// each turn dropped one turn, it would write 20 commits. If it drops 20 turns at once, it
// writes one commit per turn on average. A prune drops them immediately.
func awaitsTurns(p retention.Policy, items []retention.Item, drop map[checkpoint.ID]bool) bool {
	turns := 0
	for _, it := range items {
		switch {
		case !drop[it.ID]:
		case it.Trigger != checkpoint.Turn:
			return false
		default:
			turns++
		}
	}
	return turns < min(p[checkpoint.Turn].Keep, mostTurns)
}

// mayDrop reports whether a save can make retention drop a checkpoint. The trigger's own
// group may be full. The old tip may have been kept only as the tip. An older checkpoint
// may have been kept only as the newest resumable checkpoint.
func mayDrop(p retention.Policy, coming checkpoint.Trigger, tip *chain.Checkpoint) bool {
	limited := func(t checkpoint.Trigger) bool {
		rule, ok := p[t]
		return ok && rule.Keep >= 0
	}
	return limited(coming) || limited(tip.Trigger) || !tip.Valid() || !tip.Resumable
}

// markPruned records in the ledger that retention dropped ids at a clock. It also removes
// ledger entries that have expired at this clock.
func markPruned(l *ledger.Ledger, ids []checkpoint.ID, newest checkpoint.Clock, c *chain.Chain) {
	for _, id := range ids {
		l.Prune(id, newest, chain.AfterOf(id, c))
	}
	l.Expire(newest)
}
