package gitstore

import (
	"slices"

	"git-checkpoint/gitstore/join"

	"github.com/go-git/go-git/v5/plumbing"
)

// A relation is how a chain here and a remote's stand to each other.
type relation int

const (
	same     relation = iota
	behind            // the remote's has all that is here, and more
	ahead             // the one here has all that is there, and more
	diverged          // neither
)

// relate compares two chains of one issue. A chain that retention or a drop
// has rewritten still has what the other has, if its ledger accounts for the
// rest.
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

// containsAll reports whether c accounts for every checkpoint and ledger line
// that can be read of chains. Commits below the cut of a shallow chain came from
// a remote, and are not compared. A checkpoint that c alone says was archived is
// not accounted for: it may be below a cut, and the archive may be nowhere else.
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

// archived reports whether c says of a checkpoint in o that it was archived:
// the archive may be nowhere else yet.
func (c *chain) archived(o *chain) bool {
	return slices.ContainsFunc(o.commits, func(l chainCommit) bool { return c.ledger.IsArchived(l.ID) })
}

// stands reports whether a chain stands on a commit.
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

// without counts the checkpoints of c that o has not.
func (c *chain) without(o *chain) int {
	known, n := o.index(), 0
	for i := range c.commits {
		if !c.commits[i].ledger && known[c.commits[i].ID] == nil {
			n++
		}
	}
	return n
}
