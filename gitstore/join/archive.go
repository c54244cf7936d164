package join

import (
	"maps"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/ledger"
)

// MergeArchives joins the archive of a remote with archives and moving
// checkpoints here. live is the joined state of the chain.
//
// shared is what the remote's archive becomes: it only loses what was deleted.
// Another clone pushes an archive before the chain that says so, so a checkpoint
// that is live by all that is known here may be archived already. ours is what
// the archive here becomes, of the same checkpoints: those that live has, or
// says to be pruned, are left out, whatever the archives say. So a checkpoint is
// never live and archived in one clone.
func MergeArchives(live State, remote Chain, here ...Chain) (shared, ours State) {
	states := []State{{Checkpoints: remote.State.Checkpoints}}
	for _, a := range here {
		states = append(states, State{Checkpoints: keptArchived(live, a.State.Checkpoints)})
	}
	shared = MergeStates(states...)
	maps.DeleteFunc(shared.Checkpoints, func(id checkpoint.ID, _ Checkpoint) bool { return live.Ledger != nil && live.Ledger.Deleted[id] })
	ours = State{Checkpoints: keptArchived(live, shared.Checkpoints), Ledger: ledger.New()}
	return shared, ours
}

// keptArchived returns the checkpoints that may be in the archive of a clone
// whose chain is live.
func keptArchived(live State, archived map[checkpoint.ID]Checkpoint) map[checkpoint.ID]Checkpoint {
	kept := maps.Clone(archived)
	maps.DeleteFunc(kept, func(id checkpoint.ID, _ Checkpoint) bool {
		_, isLive := live.Checkpoints[id]
		return isLive || live.Ledger != nil && live.Ledger.Dead(id) && !live.Ledger.IsArchived(id)
	})
	return kept
}

// Pick returns the index of an archive that holds the checkpoints of a state and
// no others, of several the one with the smallest tip, or -1.
func Pick(want State, archives ...Chain) int {
	as := -1
	for k, a := range archives {
		if a.Tip != "" && (as < 0 || a.Tip < archives[as].Tip) && maps.Equal(a.State.Checkpoints, want.Checkpoints) {
			as = k
		}
	}
	return as
}
