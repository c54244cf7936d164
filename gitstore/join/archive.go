package join

import (
	"maps"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/ledger"
)

// MergeArchives joins what archives of one issue hold: the union of their
// checkpoints, without those that live, the joined state of the chain, has or
// says to be deleted or pruned. So a checkpoint is never live and archived at
// once, whatever the archives say: an undo may have brought it back. As is the
// index of an archive that is the result already, of several the one with the
// smallest tip, or -1.
func MergeArchives(live State, archives ...Chain) (joined State, as int) {
	states := make([]State, len(archives))
	for k, a := range archives {
		states[k] = State{Checkpoints: a.State.Checkpoints}
	}
	joined, as = Of(states...), -1
	maps.DeleteFunc(joined.Checkpoints, func(id checkpoint.ID, _ Checkpoint) bool {
		_, isLive := live.Checkpoints[id]
		return isLive || live.Ledger != nil && leavesArchive(live.Ledger, id)
	})
	for k, a := range archives {
		if a.Tip != "" && (as < 0 || a.Tip < archives[as].Tip) && maps.Equal(a.State.Checkpoints, joined.Checkpoints) {
			as = k
		}
	}
	return joined, as
}

// leavesArchive reports whether a ledger says that a checkpoint is gone from the
// archive too.
func leavesArchive(l *ledger.Ledger, id checkpoint.ID) bool {
	return l.Dead(id) && !l.IsArchived(id)
}
