// Package join says what several clones' knowledge of an issue amounts to.
//
// A State is a set of checkpoints by id, each with its clock and its tree, and
// a ledger. The join of states is the union of their checkpoints without the
// dead ones, and of their ledgers:
//
//	deleted   final: the checkpoint goes, and so does all else about it
//	archived  it goes from the chain; it lives on in the archive
//	pin       the newest wins, "off" on a tie; one that is on beats pruned
//	pruned    it goes, unless it is pinned
//
// Of two checkpoints with one id the one with the larger tree counts. Pruned
// lines expire 30 days before the newest clock that is joined, never by the
// time of day, so that every clone comes to the same end.
//
// The join is commutative, associative and idempotent: it does not matter who
// meets whom first, or how often. There is one exception, which retention
// bears: where a pruned line expires before it meets its checkpoint, that one
// stays, and is pruned again by whoever applies retention.
//
// Checkpoints are ordered by clock, ties by id. The clock of a checkpoint is
// after the clock of the checkpoint below it at the save. So a checkpoint sorts
// after every checkpoint that it was saved on top of, by the clocks alone.
//
// Everything here is a pure function over values. A chain of commits is one
// way to write a state down, and chains that differ may say the same: Merge
// tells which of them to keep. MergeArchives does so for archives.
package join

import (
	"cmp"
	"maps"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/ledger"
)

// A Checkpoint is what orders a checkpoint and tells its content.
type Checkpoint struct {
	Clock checkpoint.Clock
	Tree  string // the hash of its tree, in hex
}

// A State is what is known of an issue. The zero value knows nothing.
type State struct {
	Checkpoints map[checkpoint.ID]Checkpoint
	Ledger      *ledger.Ledger // nil for an empty one
}

// MergeStates is the join of states. It shares nothing with them.
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
	return all
}

// order compares two contents of one checkpoint.
func (c Checkpoint) order(o Checkpoint) int {
	return cmp.Or(cmp.Compare(c.Tree, o.Tree), cmp.Compare(c.Clock, o.Clock))
}

// Order lists the checkpoints of a state, oldest first: by clock, ties by id.
func (s State) Order() []checkpoint.ID {
	return slices.SortedFunc(maps.Keys(s.Checkpoints), func(a, b checkpoint.ID) int {
		return cmp.Or(cmp.Compare(s.Checkpoints[a].Clock, s.Checkpoints[b].Clock), cmp.Compare(a, b))
	})
}

// contains reports whether a state that was read somewhere amounts to joined, the
// result of a join. Lines that have expired since make no difference; a dead
// checkpoint that is still there does.
func (s State) contains(joined State) bool {
	return maps.Equal(s.Checkpoints, joined.Checkpoints) && MergeStates(s).Ledger.Equal(joined.Ledger)
}
