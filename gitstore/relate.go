package gitstore

import (
	"slices"

	"git-checkpoint/gitstore/internal/join"

	"github.com/go-git/go-git/v5/plumbing"
)

// A relation is the result of a comparison of the local chain with the remote chain.
type relation int

const (
	same     relation = iota
	behind            // the remote chain has all local checkpoints, and more
	ahead             // the local chain has all remote checkpoints, and more
	diverged          // neither
)

// relate compares two chains of one issue. After a rewrite by retention or a drop, a
// chain still contains the other chain if its ledger accounts for the missing
// checkpoints.
func relate(ours, theirs *chain) relation {
	switch {
	case ours.tip == theirs.tip:
		return same
	case ours.tip.IsZero() || theirs.stands(ours.tip):
		return behind
	case theirs.tip.IsZero() || ours.stands(theirs.tip):
		return ahead
	}
	if !ours.whole() || !theirs.whole() {
		return diverged
	}
	chains := []*chain{ours, theirs}
	_, as := join.Merge(ours.asChain(), theirs.asChain())
	switch {
	case as < 0 || checkAllReadable(chains, as) != nil || chains[as].archived(chains[1-as]):
		return diverged
	case as == 0:
		return ahead
	}
	return behind
}

// containsAll reports whether c accounts for all readable checkpoints and ledger entries
// of chains. It does not compare commits below a shallow boundary, since they came from a
// remote. A checkpoint that only c marks as archived is not accounted for: it may be
// below a boundary, and its archive may not exist elsewhere.
func containsAll(c *chain, chains ...*chain) bool {
	states := []join.Chain{c.asChain()}
	for _, o := range chains {
		states = append(states, join.Chain{State: o.state()})
		for id := range c.ledger.Archived {
			if !o.tip.IsZero() && !o.ledger.IsArchived(id) {
				return false
			}
		}
	}
	_, as := join.Merge(states...)
	return as == 0 && checkAllReadable(append([]*chain{c}, chains...), as) == nil
}

// archived reports whether the ledger of c marks a checkpoint of o as archived. Its
// archive may not exist elsewhere yet.
func (c *chain) archived(o *chain) bool {
	return slices.ContainsFunc(o.commits, func(l chainCommit) bool { return c.ledger.IsArchived(l.ID) })
}

// stands reports whether a chain contains a commit.
func (c *chain) stands(on plumbing.Hash) bool {
	if on == genesis(c.issue).hash {
		return c.rooted
	}
	for i := range c.commits {
		if c.commits[i].commit.hash == on {
			return true
		}
	}
	return false
}

// without returns the number of checkpoints of c that o lacks.
func (c *chain) without(o *chain) int {
	known, n := o.index(), 0
	for i := range c.commits {
		if !c.commits[i].ledger && known[c.commits[i].ID] == nil {
			n++
		}
	}
	return n
}
