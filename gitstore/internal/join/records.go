package join

import (
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/document"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

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
