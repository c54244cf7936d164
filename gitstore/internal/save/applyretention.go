package save

import (
	"context"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/retention"

	"github.com/go-git/go-git/v5/plumbing"
)

// A parent is the commit below a new checkpoint, with the ledger of its chain.
type parent struct {
	commit plumbing.Hash
	ledger *ledger.Ledger
}

// applyRetention applies retention to the newest part of a chain, with record r on top.
// It returns the parent for the commit of r and the dropped ids. If an error occurs,
// nothing is dropped and the save continues.
func (s *Saver) applyRetention(ctx context.Context, below *chain.Chain, p retention.Policy, r *checkpoint.Record, entries []trees.Entry, k *repo.ObjectWriter) (parent, []checkpoint.ID) {
	plain := parent{below.Tip, below.Ledger}
	if below.Tip.IsZero() {
		plain.commit = chain.Genesis(below.Issue).Hash
	}
	newest := below.Newest()
	if p == nil || newest == nil || !mayDrop(p, r.Trigger(), newest) {
		return plain, nil
	}
	c, err := s.Walk(below.Issue, below.Ref, below.Tip, chain.RetentionDepth)
	if err != nil || c.Cut || c.Unread != nil { // pins are unknown
		return plain, nil
	}
	coming := retention.Item{ID: r.ID(), Trigger: r.Trigger(), Phase: r.Phase(), Branch: r.Branch(), Created: r.CreatedAt(), Resumable: r.CanResume(), Valid: true}
	items := append([]retention.Item{coming}, c.Items()...)
	full := &fullness{s: s, objects: k, known: c.Index(), coming: &contents{r.Snapshot(), entries}}
	decisions := s.keepFuller(p, items, retention.PlanSave(p, items, s.Now()), full)
	drop, ids := Dropped(decisions)
	if len(ids) == 0 {
		return plain, nil
	}
	known := c.Ledger.Clone()
	if s.seenElsewhere(ctx, c) {
		markPruned(known, ids, max(c.NewestClock(), r.Clock()))
	}
	links := slices.DeleteFunc(slices.Clone(c.Commits), func(l chain.ChainCommit) bool { return drop[l.ID] })
	return parent{s.Rebuild(c, links, k), known}, ids
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

// Dropped returns the ids that have no decision to keep a commit, as a set and as a list.
func Dropped(decisions []retention.Decision) (map[checkpoint.ID]bool, []checkpoint.ID) {
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

// markPruned records in the ledger that retention dropped ids at a clock. It also removes
// ledger entries that have expired at this clock.
func markPruned(l *ledger.Ledger, ids []checkpoint.ID, newest checkpoint.Clock) {
	for _, id := range ids {
		l.Pruned[id] = newest
	}
	l.Expire(newest)
}

// seenElsewhere reports whether another clone may have checkpoints of a chain. It returns
// true if this clone did not write the tip, or if fetched/ or a remote-tracking ref of
// the issue exists. Unreadable refs count as well.
func (s *Saver) seenElsewhere(ctx context.Context, c *chain.Chain) bool {
	if own, err := s.ReadRef(ctx, repo.OwnRef(c.Issue)); err != nil || own != c.Tip {
		return true
	}
	if hash, err := s.ReadRef(ctx, repo.FetchedRef(c.Issue)); err != nil || !hash.IsZero() {
		return true
	}
	refs, err := s.Refs.Values(ctx, repo.RemoteRefs)
	if err != nil {
		return true
	}
	for name := range refs {
		if strings.HasSuffix(name, "/"+c.Issue.RefName()) {
			return true
		}
	}
	return false
}
