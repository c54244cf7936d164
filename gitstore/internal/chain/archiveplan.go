package chain

import (
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/join"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// An ArchivePlan is the plan of a sync for the archive of an issue. Checkpoints that
// another clone archived leave the local chain and enter the local archive. The sync
// reads the remote archive only if needed: before a pushed chain marks a checkpoint as
// archived, the remote archive must contain the checkpoint.
type ArchivePlan struct {
	Here   *Chain
	Theirs *Chain        // empty unless the remote archive was read
	Tip    plumbing.Hash // new tip of the local archive
	There  plumbing.Hash // new tip of the remote archive; may contain checkpoints that are live here
	Shared bool          // push the archive too
}

// NoChain returns an empty chain in place of c.
func (s *Chains) NoChain(c *Chain) *Chain {
	return &Chain{Issue: c.Issue, Ref: c.Ref, Rooted: true, Ledger: ledger.New()}
}

// PickArchive returns the tip of an archive with the wanted checkpoints. The tip is that
// of an existing chain, or a new commit in k. It returns the zero hash if no checkpoint
// is wanted and no chain exists. Commits that move to the archive form a chain without a
// tip.
func (s *Chains) PickArchive(k *repo.ObjectWriter, want join.State, chains ...*Chain) (plumbing.Hash, error) {
	list := make([]join.Chain, len(chains))
	for n, c := range chains {
		list[n] = c.AsChain()
	}
	as := join.Pick(want, list...)
	exists := func(c *Chain) bool { return !c.Tip.IsZero() }
	switch err := checkAllReadable(chains, as); {
	case err != nil:
		return plumbing.ZeroHash, err
	case as >= 0:
		return chains[as].Tip, nil
	case len(want.Checkpoints) > 0 || slices.ContainsFunc(chains, exists):
		return s.rebuildMerged(want, chains, k), nil
	}
	return plumbing.ZeroHash, nil
}

// CountIn returns the number of checkpoints of a chain that are also in a state.
func (c *Chain) CountIn(state join.State) int {
	n := 0
	for _, l := range c.Commits {
		if _, ok := state.Checkpoints[l.ID]; ok && !l.Ledger {
			n++
		}
	}
	return n
}

// MovingTo returns commits of chains that a ledger marks as archived, except commits
// already in the archive. The result has no tip: each commit still has its old parent,
// from its own chain.
func MovingTo(archive *Chain, known *ledger.Ledger, chains ...*Chain) *Chain {
	there, m := archive.Index(), &Chain{Issue: archive.Issue, Ref: archive.Ref, Rooted: true, Ledger: ledger.New()}
	for _, c := range chains {
		for _, l := range c.Commits {
			if l.ID != "" && known.IsArchived(l.ID) && there[l.ID] == nil {
				m.Commits, there[l.ID] = append(m.Commits, l), &l
			}
		}
	}
	return m
}

// Update returns the remote archive's ref update, or nil without changes.
func (a *ArchivePlan) Update(i checkpoint.Issue) []remote.RefUpdate {
	if a == nil || !a.Shared || a.There.IsZero() || a.There == a.Theirs.Tip {
		return nil
	}
	return []remote.RefUpdate{{Ref: repo.ArchiveRef(i), Tip: a.There, Seen: a.Theirs.Tip}}
}

// Move returns the move of the local archive ref, or nil if it stays. A sync never
// deletes an archive ref.
func (a *ArchivePlan) Move(i checkpoint.Issue) []refs.Move {
	if a == nil || a.Tip.IsZero() || a.Tip == a.Here.Tip {
		return nil
	}
	return []refs.Move{{Name: repo.ArchiveRef(i), Old: a.Here.Tip, New: a.Tip}}
}
