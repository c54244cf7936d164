package join

import (
	"maps"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
)

// MergeArchives merges the archive of a remote with local archives and with checkpoints
// that are moving to the local archive. live is the merged state of the chain.
//
// shared is the new archive of the remote. It loses only deleted checkpoints. Another
// clone pushes an archive before the chain that records the archiving. So shared may hold
// checkpoints that are live according to the local state.
//
// ours is the new local archive. It omits checkpoints of shared that are live, or that
// the ledger of live marks as pruned. So no checkpoint is both live and archived in one
// clone.
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

// keptArchived returns the archived checkpoints that are neither live nor dead for
// another reason than archiving.
func keptArchived(live State, archived map[checkpoint.ID]Checkpoint) map[checkpoint.ID]Checkpoint {
	kept := maps.Clone(archived)
	maps.DeleteFunc(kept, func(id checkpoint.ID, _ Checkpoint) bool {
		_, isLive := live.Checkpoints[id]
		return isLive || live.Ledger != nil && live.Ledger.Dead(id) && !live.Ledger.IsArchived(id)
	})
	return kept
}

// Pick returns the index of an archive with exactly the checkpoints of want, -1 if no
// archive matches. If several archives match, the smallest tip wins.
func Pick(want State, archives ...Chain) int {
	as := -1
	for k, a := range archives {
		if a.Tip != "" && (as < 0 || a.Tip < archives[as].Tip) && maps.Equal(a.State.Checkpoints, want.Checkpoints) {
			as = k
		}
	}
	return as
}
