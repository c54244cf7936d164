package gitstore

import (
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/join"
	"git-checkpoint/gitstore/ledger"
	"git-checkpoint/gitstore/refs"
	"git-checkpoint/gitstore/remote"

	"github.com/go-git/go-git/v5/plumbing"
)

// An archivePlan is what a sync is going to do with an issue's archive. What
// another clone archived leaves the chain here, and goes to the archive here.
// The remote's archive is looked at where it matters: before a chain says to
// others that something was archived, it has to be there.
type archivePlan struct {
	here   *chain
	theirs *chain        // empty where nobody looked
	tip    plumbing.Hash // where the archive here goes
	there  plumbing.Hash // where the remote's goes: it may have what is live here
	shared bool          // goes to the remote, too
}

// noChain is an empty chain in the place of c.
func (s *Store) noChain(c *chain) *chain {
	return &chain{issue: c.issue, ref: c.ref, rooted: true, ledger: ledger.New()}
}

// pickArchive returns the tip of an archive with the checkpoints that are wanted:
// one of chains, or a new one in k. It is zero if nothing is wanted and none of
// chains exists. Links that move to the archive are a chain without a tip.
func (s *Store) pickArchive(k *objectWriter, want join.State, chains ...*chain) (plumbing.Hash, error) {
	list := make([]join.Chain, len(chains))
	for n, c := range chains {
		list[n] = c.asChain()
	}
	as := join.Pick(want, list...)
	exists := func(c *chain) bool { return !c.tip.IsZero() }
	switch err := checkAllReadable(chains, as); {
	case err != nil:
		return plumbing.ZeroHash, err
	case as >= 0:
		return chains[as].tip, nil
	case len(want.Checkpoints) > 0 || slices.ContainsFunc(chains, exists):
		return s.rebuildMerged(want, chains, k), nil
	}
	return plumbing.ZeroHash, nil
}

// countIn counts the checkpoints of a chain that are in a state too.
func (c *chain) countIn(state join.State) int {
	n := 0
	for _, l := range c.commits {
		if _, ok := state.Checkpoints[l.ID]; ok && !l.ledger {
			n++
		}
	}
	return n
}

// movingTo returns the commits of chains that are not in archive, and that a ledger
// says to be archived. They have no tip: their commits still stand on what was
// below them in their chains.
func movingTo(archive *chain, known *ledger.Ledger, chains ...*chain) *chain {
	there, m := archive.index(), &chain{issue: archive.issue, ref: archive.ref, rooted: true, ledger: ledger.New()}
	for _, c := range chains {
		for _, l := range c.commits {
			if l.ID != "" && known.IsArchived(l.ID) && there[l.ID] == nil {
				m.commits, there[l.ID] = append(m.commits, l), &l
			}
		}
	}
	return m
}

// update returns the update of the remote's archive, none if it has it.
func (a *archivePlan) update(i checkpoint.Issue) []remote.RefUpdate {
	if a == nil || !a.shared || a.there.IsZero() || a.there == a.theirs.tip {
		return nil
	}
	return []remote.RefUpdate{{Ref: ArchiveRef(i), Tip: a.there, Seen: a.theirs.tip}}
}

// move is where the archive here goes, which it never does without a trace.
func (a *archivePlan) move(i checkpoint.Issue) []refs.Move {
	if a == nil || a.tip.IsZero() || a.tip == a.here.tip {
		return nil
	}
	return []refs.Move{{Name: ArchiveRef(i), Old: a.here.tip, New: a.tip}}
}
