package gitstore

import (
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/remote"

	"github.com/go-git/go-git/v5/plumbing"
)

// An archivePlan is the plan of a sync for the archive of an issue. Checkpoints that
// another clone archived leave the local chain and enter the local archive. The sync
// reads the remote archive only if needed: before a pushed chain marks a checkpoint as
// archived, the remote archive must contain the checkpoint.
type archivePlan struct {
	here   *chain
	theirs *chain        // empty unless the remote archive was read
	tip    plumbing.Hash // new tip of the local archive
	there  plumbing.Hash // new tip of the remote archive; may contain checkpoints that are live here
	shared bool          // push the archive too
}

// noChain returns an empty chain in place of c.
func (s *Store) noChain(c *chain) *chain {
	return &chain{issue: c.issue, ref: c.ref, rooted: true, ledger: ledger.New()}
}

// pickArchive returns the tip of an archive with the wanted checkpoints. The tip is that
// of an existing chain, or a new commit in k. It returns the zero hash if no checkpoint
// is wanted and no chain exists. Commits that move to the archive form a chain without a
// tip.
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

// countIn returns the number of checkpoints of a chain that are also in a state.
func (c *chain) countIn(state join.State) int {
	n := 0
	for _, l := range c.commits {
		if _, ok := state.Checkpoints[l.ID]; ok && !l.ledger {
			n++
		}
	}
	return n
}

// movingTo returns commits of chains that a ledger marks as archived, except commits
// already in the archive. The result has no tip: each commit still has its old parent,
// from its own chain.
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

// update returns the remote archive's ref update, or nil without changes.
func (a *archivePlan) update(i checkpoint.Issue) []remote.RefUpdate {
	if a == nil || !a.shared || a.there.IsZero() || a.there == a.theirs.tip {
		return nil
	}
	return []remote.RefUpdate{{Ref: ArchiveRef(i), Tip: a.there, Seen: a.theirs.tip}}
}

// move returns the move of the local archive ref, or nil if it stays. A sync never
// deletes an archive ref.
func (a *archivePlan) move(i checkpoint.Issue) []refs.Move {
	if a == nil || a.tip.IsZero() || a.tip == a.here.tip {
		return nil
	}
	return []refs.Move{{Name: ArchiveRef(i), Old: a.here.tip, New: a.tip}}
}
