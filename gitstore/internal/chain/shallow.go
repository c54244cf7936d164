package chain

import (
	"maps"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// A shallow clone cannot rewrite its chain. It drops and archives checkpoints with a ledger commit alone,
// and readers hide them. The next sync of a complete clone removes the commits.

// markGone marks the commits of checkpoints that the ledger has as archived or deleted. The ledgers in an
// archive are history.
func (c *Chain) markGone() {
	isArchive := c.Ref == repo.ArchiveRef(c.Issue)
	if !isArchive {
		fileEnded(c.Ledger, c.Commits)
	}
	for i := range c.Commits {
		l := &c.Commits[i]
		l.Pinned = c.Ledger.Pinned(l.ID)
		l.Gone = !isArchive && l.ID != "" && (c.Ledger.Deletes(l.ID, l.Content) || c.Ledger.IsArchived(l.ID))
	}
}

// fileEnded adds to a ledger what its facts ended say about the checkpoints of commits. Pinned checkpoints
// are not deleted.
func fileEnded(l *ledger.Ledger, commits []ChainCommit) {
	ends, _ := l.Ended()
	if len(ends) == 0 {
		return
	}
	order := (&Chain{Commits: commits, Ledger: l}).ancestry()
	for _, end := range ends {
		if order.known[end] == nil {
			continue
		}
		line := order.lineage(end)
		for i := range commits {
			switch c := &commits[i].Checkpoint; {
			case c.ID == "" || line.Lacks(c) || l.HasDeleted(c.ID) || l.IsArchived(c.ID):
			case l.IsArchived(end):
				l.File(c.ID, l.Archival(end))
			case !l.Pinned(c.ID):
				l.Delete(c.ID, c.After)
			}
		}
	}
}

// endBelow records that ids leave a shallow chain together with all checkpoints below its boundary.
func (s *Chains) endBelow(l *ledger.Ledger, c *Chain, ids []checkpoint.ID) {
	gone := SetOf(ids)
	for _, oldest := range slices.Backward(c.Commits) {
		if c.Cut && oldest.ID != "" && gone[oldest.ID] {
			l.End(oldest.ID, c.NewestClock(), s.repo.Now())
			return
		}
	}
}

// CheckBoundary fails if a shallow clone has no live checkpoint of a chain, but may have some below the
// boundary. If a fact ended is newer than all commits that were read, there are none below.
func (c *Chain) CheckBoundary() error {
	if !c.Cut || c.Newest() != nil {
		return nil
	}
	ends, last := c.Ledger.Ended()
	isLater := func(l ChainCommit) bool { return max(l.Clock, checkpoint.ClockAt(l.Raw.Committed())) > last }
	if len(ends) > 0 && !slices.ContainsFunc(c.Commits, isLater) {
		return nil
	}
	return &repo.RefusedError{Reason: c.Ref + ": history is cut at a shallow boundary, and all checkpoints lie below", Hint: "git fetch --unshallow"}
}

// ReadOnly returns the error for a change to a shallow chain.
func (c *Chain) ReadOnly() error {
	return &repo.RefusedError{Reason: c.Ref + ": this shallow clone lacks the older checkpoints of the chain, so they cannot be changed here", Hint: "git fetch --unshallow"}
}

// Visible maps the ids of checkpoints that are not gone to their commits.
func (c *Chain) Visible() map[checkpoint.ID]*ChainCommit {
	byID := c.Index()
	maps.DeleteFunc(byID, func(_ checkpoint.ID, l *ChainCommit) bool { return l.Gone })
	return byID
}

// Loose returns a shallow chain for a merge with a complete chain: without a tip, because the merged chain
// cannot be built on it.
func (c *Chain) Loose(whole *Chain) *Chain {
	if c.Whole() {
		return c
	}
	loose := *c
	loose.Tip, loose.Ledger = plumbing.ZeroHash, c.Ledger.Clone()
	fileEnded(loose.Ledger, slices.Concat(c.Commits, whole.Commits))
	return &loose
}

// Splice merges chains with a common commit, of which some are shallow. It rewrites only commits above
// this commit. An archived checkpoint stays in the result, unless one of the chains has archived it in the
// archive and lacks it. ok is false without a common commit.
func (s *Chains) Splice(k *repo.ObjectWriter, theirs, ours *Chain) (tip plumbing.Hash, want join.State, ok bool) {
	above := slices.IndexFunc(ours.Commits, func(l ChainCommit) bool { return theirs.ContainsCommit(l.Raw.Hash) })
	if above < 0 {
		return tip, want, false
	}
	common := ours.Commits[above].Raw.Hash
	at := slices.IndexFunc(theirs.Commits, func(l ChainCommit) bool { return l.Raw.Hash == common })
	if at <= 0 { // the genesis commit of a complete chain, or their tip
		return tip, want, false
	}
	a, b := *ours, *theirs
	a.Commits, b.Commits = ours.Commits[:above], theirs.Commits[:at]
	if a.UnknownCommit() != nil || b.UnknownCommit() != nil || s.Identify(&a, &b) != nil {
		return tip, want, false
	}
	a.Ledger, b.Ledger = ours.Ledger.Clone(), theirs.Ledger.Clone()
	for _, l := range []*ledger.Ledger{a.Ledger, b.Ledger} {
		fileEnded(l, slices.Concat(ours.Commits, theirs.Commits))
	}
	want = join.MergeStates(a.state(), b.state())
	stays := join.State{Members: maps.Clone(want.Members), Ledger: want.Ledger}
	for _, side := range [][2]*Chain{{&a, &b}, {&b, &a}} {
		there := side[1].Index()
		for _, l := range side[0].Commits {
			if l.ID != "" && want.Ledger.IsArchived(l.ID) && (there[l.ID] != nil || !side[1].Ledger.IsArchived(l.ID)) {
				stays.Members[l.Member()] = l.entry()
			}
		}
	}
	tip = s.withLedger(theirs.Issue, s.rebuildMerged(stays, []*Chain{&b, &a}, k), want.Ledger, k)
	for _, c := range []*Chain{theirs, ours} { // the common part
		for i := range c.Commits {
			if l := &c.Commits[i]; l.ID != "" && !want.Ledger.Dead(l.ID, l.Content) && theirs.ContainsCommit(l.Raw.Hash) {
				want.Members[l.Member()] = l.entry()
			}
		}
	}
	return tip, want, true
}
