// Package join merges the states of an issue in several clones.
//
// A State holds a ledger and a set of checkpoints by id, each with clock and tree. A
// merge combines the ledgers and all checkpoints except dead checkpoints:
//
//	deleted   final: removes the checkpoint and its other ledger lines
//	archived  removes the checkpoint from the chain; the archive keeps it
//	pin       the newest wins, "off" on a tie; "on" overrides pruned
//	pruned    removes the checkpoint, unless it is pinned
//	restored  the newest wins; a checkpoint with a later clock ends it
//
// If two checkpoints have the same id, the larger tree wins. Pruned lines expire 30 days
// before the newest merged clock. Expiry ignores the time of day, so all clones compute
// equal results.
//
// The merge is commutative, associative and idempotent: the order and number of merges do
// not matter. There are two exceptions. If a pruned line expires before it is merged with
// its checkpoint, the checkpoint stays until retention prunes it again. If a restoration
// meets a later checkpoint before the deletion of this checkpoint, the restoration has ended.
//
// Checkpoints are sorted by clock and id. A save assigns a clock later than the parent
// checkpoint's clock. So clocks alone sort checkpoints after their ancestors at the save.
//
// All functions are pure. A chain of commits encodes a state, and different chains can
// encode equal states. Merge returns the index of the chain that all clones keep;
// MergeArchives and Pick handle archives.
package join

import (
	"cmp"
	"maps"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
)

// A Checkpoint holds sort key and content of a checkpoint.
type Checkpoint struct {
	Clock checkpoint.Clock
	Tree  string // tree object id in hex
}

// A State holds the known checkpoints and ledger facts of an issue. The zero value is
// empty.
type State struct {
	Checkpoints map[checkpoint.ID]Checkpoint
	Ledger      *ledger.Ledger // nil means empty
}

// MergeStates returns the merge of states as a deep copy.
func MergeStates(states ...State) State {
	all := State{map[checkpoint.ID]Checkpoint{}, ledger.New()}
	var newest checkpoint.Clock
	for _, s := range states {
		for id, c := range s.Checkpoints {
			newest = max(newest, c.Clock)
			if had, ok := all.Checkpoints[id]; !ok || c.order(had) > 0 {
				all.Checkpoints[id] = c
			}
		}
		if s.Ledger != nil {
			all.Ledger.Add(s.Ledger)
		}
	}
	all.Ledger.Expire(max(newest, all.Ledger.NewestPruned()))
	maps.DeleteFunc(all.Checkpoints, func(id checkpoint.ID, _ Checkpoint) bool { return all.Ledger.Dead(id) })
	for _, c := range all.Checkpoints {
		all.Ledger.EndRestored(c.Clock)
	}
	if len(all.Checkpoints) == 0 {
		all.Ledger.Restored = ledger.Restoration{}
	}
	return all
}

// order compares two versions of one checkpoint by tree and clock.
func (c Checkpoint) order(o Checkpoint) int {
	return cmp.Or(cmp.Compare(c.Tree, o.Tree), cmp.Compare(c.Clock, o.Clock))
}

// Order returns checkpoint ids sorted by clock and id, oldest first.
func (s State) Order() []checkpoint.ID {
	return slices.SortedFunc(maps.Keys(s.Checkpoints), func(a, b checkpoint.ID) int {
		return cmp.Or(cmp.Compare(s.Checkpoints[a].Clock, s.Checkpoints[b].Clock), cmp.Compare(a, b))
	})
}

// contains reports whether s equals joined, the result of a merge. Expired lines are
// ignored, but a dead checkpoint in s makes a difference.
func (s State) contains(joined State) bool {
	return maps.Equal(s.Checkpoints, joined.Checkpoints) && MergeStates(s).Ledger.Equal(joined.Ledger)
}

// A Chain pairs a state with its newest commit.
type Chain struct {
	Tip   string // commit id in hex, "" if the chain does not exist
	State State
}

// Merge returns the merged state of chains of one issue, and the index of a chain that
// already stores this state. If several chains match, the smallest tip wins, so that
// clones with the same state keep the same commits. The index is -1 if a new chain is
// necessary.
func Merge(chains ...Chain) (joined State, as int) {
	states := make([]State, len(chains))
	for k, c := range chains {
		states[k] = c.State
	}
	joined, as = MergeStates(states...), -1
	for k, c := range chains {
		if c.Tip != "" && (as < 0 || c.Tip < chains[as].Tip) && c.State.contains(joined) {
			as = k
		}
	}
	return joined, as
}

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
