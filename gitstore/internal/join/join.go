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
	"git-checkpoint/gitstore/checkpoint/document"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/tasks"
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

// sections are the merged keys of a record. They describe the work. All other keys describe one
// checkpoint and come from the newer record.
var sections = []string{"tasks", "execution_graph", "progress", "agent_outputs", "pipeline"}

// MergeRecords merges two records of concurrent checkpoints that derive from base: for example,
// two clones each complete a task, unaware of the other. The common base shows the changes of
// each side; it is nil if the records have no common ancestor. If only one side changed a
// value, its change counts. If both sides changed a value:
//
//	a task, a phase   complete wins, else the newer side
//	a list            additions of both sides, without removals of either side
//	spent tokens      the sum of what both sides spent, also in different workflows
//	all else          the newer side
//
// It returns newer with the changes of other, or nil if other adds nothing. The inputs are not
// modified.
func MergeRecords(base, other, newer *checkpoint.Record) *checkpoint.Record {
	if base == nil {
		base = checkpoint.New()
	}
	r := newer.Clone()
	spent := newer.AgentTurn().Spent
	if sum := checkpoint.MergeSpent(base.AgentTurn().Spent, other.AgentTurn().Spent, spent); !slices.Equal(sum, spent) {
		r.SetSpent(sum)
	}
	if workflow(other) != workflow(newer) { // a side started a new workflow
		if checkpoint.Equal(r.Doc(), newer.Doc()) {
			return nil
		}
		return r
	}
	base, other = atPhase(base, r.Phase()), atPhase(other, r.Phase())
	for _, key := range sections {
		was, _ := base.Doc().Get(key)
		theirs, _ := other.Doc().Get(key)
		ours, _ := r.Doc().Get(key)
		if v := mergeValue(was, theirs, ours); v != nil {
			r.Doc().Set(key, v)
		} else {
			r.Doc().Delete(key)
		}
	}
	if checkpoint.Equal(r.Doc(), newer.Doc()) {
		return nil
	}
	updateDerived(r, newer)
	return r
}

// atPhase returns the record with the batches of a phase as its current batches.
func atPhase(r *checkpoint.Record, phase string) *checkpoint.Record {
	if from := r.Phase(); from != "" && from != phase {
		r = r.Clone()
		r.SwitchBatches(from, phase)
	}
	return r
}

// workflow returns the identity of a workflow within an issue.
func workflow(r *checkpoint.Record) string { return r.Doc().Sub("workflow").Text("started_at") }

// updateDerived updates values that depend on merged tasks and phases: blocked tasks,
// batches, phase lists and the resume point.
func updateDerived(r, newer *checkpoint.Record) {
	l, before := tasks.Of(r), tasks.Of(newer)
	var news []string
	for _, t := range l.All() {
		if was, _ := before.Task(t.ID); was.Status != t.Status {
			news = append(news, t.ID)
		}
	}
	l.Settle(news...)
	if _, there := r.Doc().Get("progress"); there {
		progress.Settle(r)
	}
	if p := l.Point(); p != "" {
		r.SetResumeFrom(p)
	} else if p := progress.DefaultCode(r); p != "" {
		r.SetResumeFrom(p)
	}
}

// mergeValue merges two changes of a value. A nil result deletes the value.
func mergeValue(base, other, newer any) any {
	switch {
	case checkpoint.Equal(other, base):
		return newer
	case checkpoint.Equal(newer, base):
		return document.Clone(other)
	}
	switch n := newer.(type) {
	case *checkpoint.Map:
		o, ok := other.(*checkpoint.Map)
		if !ok {
			return newer
		}
		switch {
		case isComplete(o) && !isComplete(n):
			return o.Clone()
		case isItem(o) && isItem(n):
			return newer
		}
		b, _ := base.(*checkpoint.Map)
		return mergeMaps(b, o, n)
	case []any:
		if o, ok := other.([]any); ok {
			b, _ := base.([]any)
			return mergeLists(b, o, n)
		}
	}
	return newer
}

// isComplete reports whether a mapping is a complete task or phase.
func isComplete(m *checkpoint.Map) bool { return tasks.IsComplete(m.Text("status")) }

// isItem reports whether a mapping is a task or a phase. Items are merged as a whole,
// because a mix of both sides would be inconsistent.
func isItem(m *checkpoint.Map) bool {
	_, graph := m.Get("nodes")
	return m.Text("status") != "" && !graph
}

// mergeMaps merges mappings key by key, in the order of newer.
func mergeMaps(base, other, newer *checkpoint.Map) *checkpoint.Map {
	out := checkpoint.NewMap()
	for _, key := range append(newer.Keys(), other.Keys()...) {
		was, _ := base.Get(key)
		theirs, _ := other.Get(key)
		ours, _ := newer.Get(key)
		if v := mergeValue(was, theirs, ours); v != nil {
			out.Set(key, v)
		}
	}
	return out
}

// mergeLists merges lists. Elements are identified by their id, otherwise by content.
func mergeLists(base, other, newer []any) []any {
	was, theirs, ours := byName(base), byName(other), byName(newer)
	var out []any
	for _, v := range newer {
		name := nameOf(v)
		if u := mergeValue(was[name], theirs[name], v); u != nil {
			out = append(out, u)
		}
	}
	for _, v := range other {
		name := nameOf(v)
		if _, there := ours[name]; !there && mergeValue(was[name], v, nil) != nil {
			out = append(out, document.Clone(v))
		}
	}
	return out
}

func byName(list []any) map[string]any {
	m := make(map[string]any, len(list))
	for _, v := range list {
		m[nameOf(v)] = v
	}
	return m
}

// nameOf returns the identity of a list element: its id, or its whole content.
func nameOf(v any) string {
	m, _ := v.(*checkpoint.Map)
	for _, key := range []string{"id", "task_id", "batch_id"} {
		if s := m.Text(key); s != "" {
			return "id " + s
		}
	}
	whole := checkpoint.NewMap()
	whole.Set("v", v)
	text, _ := whole.MarshalJSON()
	return string(text)
}
