// Package join merges the states of an issue in several clones.
//
// A State holds a ledger and a set of checkpoints. The key of the set is a Member: the id with the
// content. Two contents under one id are two members, and both stay. A merge is the union of the
// members without the dead ones, and the join of the ledgers (package ledger):
//
//	deleted   final: removes the checkpoint, with one content or with all
//	archived  removes the checkpoint from the chain; the archive keeps it
//	pin       overrides pruned
//	pruned    removes the checkpoint, unless it is pinned
//
// Pruned lines expire 30 days before the newest merged clock. Expiry ignores the time of day, so
// all clones compute equal results.
//
// The merge is commutative, associative and idempotent: the order and number of merges do
// not matter. There are two exceptions. If a pruned line expires before it is merged with its
// checkpoint, the checkpoint stays until retention prunes it again. And a fact that ends an archiving
// or a pruning brings back only a checkpoint that a merged state still has.
//
// State.Order sorts the members, so that each stands after those that it came after.
//
// All functions are pure. A chain of commits encodes a state, and different chains can
// encode equal states. Merge returns the index of the chain that all clones keep;
// MergeArchives and Pick handle archives.
package join

import (
	"maps"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
)

// A Member identifies a checkpoint in all clones.
type Member struct {
	ID      checkpoint.ID
	Content string // 64 hex digits (chain.ContentOf)
}

// A Checkpoint holds what the order of a member depends on.
type Checkpoint struct {
	Clock checkpoint.Clock // the clock that counts: Clock.Saved of its committer time
	After string           // value of the trailer Checkpoint-After
}

// A State holds the known checkpoints and ledger facts of an issue. The zero value is
// empty.
type State struct {
	Members map[Member]Checkpoint
	Ledger  *ledger.Ledger // nil means empty
}

// MergeStates returns the merge of states as a deep copy.
func MergeStates(states ...State) State {
	all := State{map[Member]Checkpoint{}, ledger.New()}
	var newest checkpoint.Clock
	for _, s := range states {
		for m, c := range s.Members {
			newest = max(newest, c.Clock)
			// The committer is not part of the content, so the clock that counts can differ.
			if had, ok := all.Members[m]; !ok || c.Clock > had.Clock {
				all.Members[m] = c
			}
		}
		if s.Ledger != nil {
			all.Ledger.Add(s.Ledger)
		}
	}
	all.Ledger.Expire(max(newest, all.Ledger.NewestPruned()))
	maps.DeleteFunc(all.Members, func(m Member, _ Checkpoint) bool { return all.Ledger.Dead(m.ID, m.Content) })
	return all
}

// Doubles returns the ids that have several contents, sorted.
func (s State) Doubles() (ids []checkpoint.ID) {
	seen := map[checkpoint.ID]int{}
	for m := range s.Members {
		if seen[m.ID]++; seen[m.ID] == 2 {
			ids = append(ids, m.ID)
		}
	}
	slices.Sort(ids)
	return ids
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
	joined = MergeStates(states...)
	return joined, pick(chains, func(s State) bool { // expired lines are ignored, a dead checkpoint is not
		return maps.Equal(s.Members, joined.Members) && MergeStates(s).Ledger.Equal(joined.Ledger)
	})
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
	states := []State{{Members: remote.State.Members}}
	for _, a := range here {
		states = append(states, State{Members: keptArchived(live, a.State.Members)})
	}
	shared = MergeStates(states...)
	maps.DeleteFunc(shared.Members, func(m Member, _ Checkpoint) bool { return live.Ledger != nil && live.Ledger.Deletes(m.ID, m.Content) })
	ours = State{Members: keptArchived(live, shared.Members), Ledger: ledger.New()}
	return shared, ours
}

// keptArchived returns the archived checkpoints that are neither live nor dead for
// another reason than archiving.
func keptArchived(live State, archived map[Member]Checkpoint) map[Member]Checkpoint {
	kept := maps.Clone(archived)
	maps.DeleteFunc(kept, func(m Member, _ Checkpoint) bool {
		_, isLive := live.Members[m]
		return isLive || live.Ledger != nil && live.Ledger.Dead(m.ID, m.Content) && !live.Ledger.Files(m.ID, m.Content)
	})
	return kept
}

// Pick returns the index of an archive with exactly the checkpoints of want, -1 if no
// archive matches. If several archives match, the smallest tip wins.
func Pick(want State, archives ...Chain) int {
	return pick(archives, func(s State) bool { return maps.Equal(s.Members, want.Members) })
}

func pick(chains []Chain, matches func(State) bool) (as int) {
	as = -1
	for k, c := range chains {
		if c.Tip != "" && (as < 0 || c.Tip < chains[as].Tip) && matches(c.State) {
			as = k
		}
	}
	return as
}
