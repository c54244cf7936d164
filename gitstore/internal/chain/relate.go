package chain

import (
	"slices"

	"git-checkpoint/gitstore/internal/join"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Relation is the result of a comparison of the local chain with the remote chain.
type Relation int

const (
	RelationSame     Relation = iota
	RelationBehind            // the remote chain has all local checkpoints, and more
	RelationAhead             // the local chain has all remote checkpoints, and more
	RelationDiverged          // neither
)

// Relate compares two chains of one issue. After a rewrite by retention or a drop, a
// chain still contains the other chain if its ledger accounts for the missing
// checkpoints.
func Relate(ours, theirs *Chain) Relation {
	switch {
	case ours.Tip == theirs.Tip:
		return RelationSame
	case ours.Tip.IsZero() || theirs.ContainsCommit(ours.Tip):
		return RelationBehind
	case theirs.Tip.IsZero() || ours.ContainsCommit(theirs.Tip):
		return RelationAhead
	}
	if !ours.Whole() || !theirs.Whole() {
		return RelationDiverged
	}
	chains := []*Chain{ours, theirs}
	_, as := join.Merge(ours.AsChain(), theirs.AsChain())
	switch {
	case as < 0 || checkAllReadable(chains, as) != nil || chains[as].archived(chains[1-as]):
		return RelationDiverged
	case as == 0:
		return RelationAhead
	}
	return RelationBehind
}

// ContainsAll reports whether c accounts for all readable checkpoints and ledger entries
// of chains. It does not compare commits below a shallow boundary, since they came from a
// remote. A checkpoint that only c marks as archived is not accounted for: it may be
// below a boundary, and its archive may not exist elsewhere.
func ContainsAll(c *Chain, chains ...*Chain) bool {
	states := []join.Chain{c.AsChain()}
	for _, o := range chains {
		states = append(states, join.Chain{State: o.state()})
		for id := range c.Ledger.Archived {
			if !o.Tip.IsZero() && !o.Ledger.IsArchived(id) {
				return false
			}
		}
	}
	_, as := join.Merge(states...)
	return as == 0 && checkAllReadable(append([]*Chain{c}, chains...), as) == nil
}

// archived reports whether the ledger of c marks a checkpoint of o as archived. Its
// archive may not exist elsewhere yet.
func (c *Chain) archived(o *Chain) bool {
	return slices.ContainsFunc(o.Commits, func(l ChainCommit) bool { return c.Ledger.IsArchived(l.ID) })
}

// ContainsCommit reports whether a chain contains a commit.
func (c *Chain) ContainsCommit(on plumbing.Hash) bool {
	if on == Genesis(c.Issue).Hash {
		return c.Rooted
	}
	for i := range c.Commits {
		if c.Commits[i].Raw.Hash == on {
			return true
		}
	}
	return false
}

// CountMissingFrom returns the number of checkpoints of c that o lacks.
func (c *Chain) CountMissingFrom(o *Chain) int {
	known, n := o.Index(), 0
	for i := range c.Commits {
		if !c.Commits[i].Ledger && known[c.Commits[i].ID] == nil {
			n++
		}
	}
	return n
}
