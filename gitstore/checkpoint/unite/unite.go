// Package unite brings together the records of checkpoints that were made
// apart: two clones each complete a task, and neither knows of the other's. The
// record that both started from tells what each of them changed. It is pure.
//
// What only one side changed is as that side has it. What both changed:
//
//	a task, a phase   complete wins, else the newer side
//	a list            what either put into it, without what either took out
//	all else          the newer side
//
// Only what the work itself is made of is united: tasks and their graph, the
// progress of the phases, what agents put out, the state of a pipeline. The rest
// speaks of one checkpoint, and is the newer one's.
package unite

import (
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// sections are the keys of a record that are united.
var sections = []string{"tasks", "execution_graph", "progress", "agent_outputs", "pipeline"}

// Merge merges two records that were derived from base, which is nil if they have
// nothing in common. The result is the newer one with what the other adds to it,
// or nil where that is nothing. None of them is changed.
func Merge(base, other, newer *checkpoint.Record) *checkpoint.Record {
	if base == nil {
		base = checkpoint.New()
	}
	if workflow(other) != workflow(newer) {
		return nil // one of them began anew
	}
	r := newer.Clone()
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

// workflow tells one workflow of an issue from another.
func workflow(r *checkpoint.Record) string { return r.Doc().Sub("workflow").Text("started_at") }

// updateDerived lets follow what comes of the tasks and phases that the newer record did
// not know of.
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
	} else if p := r.DefaultResumePoint(); p != "" {
		r.SetResumeFrom(p)
	}
}

// mergeValue merges two changes of a value. It returns nil if the value goes.
func mergeValue(base, other, newer any) any {
	switch {
	case checkpoint.Equal(other, base):
		return newer
	case checkpoint.Equal(newer, base):
		return cloneValue(other)
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

func cloneValue(v any) any {
	m := checkpoint.NewMap()
	m.Set("v", v)
	v, _ = m.Clone().Get("v")
	return v
}

// isComplete reports that a mapping is of a task or a phase that is complete.
func isComplete(m *checkpoint.Map) bool { return tasks.IsComplete(m.Text("status")) }

// isItem reports that a mapping is of a task or a phase: half of what each side
// says of it would be true of neither.
func isItem(m *checkpoint.Map) bool {
	_, graph := m.Get("nodes")
	return m.Text("status") != "" && !graph
}

// mergeMaps merges mappings, in the order of the newer one.
func mergeMaps(base, other, newer *checkpoint.Map) *checkpoint.Map {
	out := checkpoint.NewMap()
	for _, key := range distinct(append(newer.Keys(), other.Keys()...)) {
		was, _ := base.Get(key)
		theirs, _ := other.Get(key)
		ours, _ := newer.Get(key)
		if v := mergeValue(was, theirs, ours); v != nil {
			out.Set(key, v)
		}
	}
	return out
}

// mergeLists merges lists: what has an id is one thing, whatever else is said of it.
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
			out = append(out, cloneValue(v))
		}
	}
	return out
}

// byName finds the elements of a list.
func byName(list []any) map[string]any {
	m := make(map[string]any, len(list))
	for _, v := range list {
		m[nameOf(v)] = v
	}
	return m
}

// nameOf is what tells an element of a list from others: its id, or the whole of
// it.
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

func distinct(keys []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(keys, func(key string) bool {
		was := seen[key]
		seen[key] = true
		return was
	})
}
