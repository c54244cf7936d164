package tasks

import (
	"slices"

	"git-checkpoint/gitstore/checkpoint"
)

// A Plan describes a planned task.
type Plan struct {
	ID     string
	Needs  []string // tasks to complete first
	Output string   // expected output file
}

// Add adds pending tasks. An existing task keeps its status and gets missing dependencies
// and the output of the plan. Add fails with *CycleError for a new cycle, and with
// *UnknownError if a dependency does not exist. It returns ErrNothing if the record
// already has everything. An existing cycle, possible after a merge, does not block
// unrelated tasks.
func (l *List) Add(plans ...Plan) error {
	changed, before := false, l.rounds(plans)
	for _, p := range plans {
		changed = l.add(p) || changed
	}
	for _, p := range plans {
		for _, id := range p.Needs {
			if l.at[id] == nil {
				return &UnknownError{id}
			}
		}
	}
	now := l.rounds(plans)
	if before == nil && now != nil {
		return l.Check()
	}
	for _, p := range plans {
		if way := now[p.ID]; way != nil && before[p.ID] == nil {
			return &CycleError{way}
		}
	}
	if !changed {
		return ErrNothing
	}
	return nil
}

func (l *List) add(p Plan) bool {
	at, known := l.at[p.ID]
	if !known {
		at = l.place(p.ID)
		at.task = checkpoint.NewMap()
		at.task.Set("status", Pending)
		l.insert(p.ID, at.task)
	}
	changed := !known
	if missing := without(p.Needs, l.needs[p.ID]); len(missing) > 0 {
		l.need(p.ID, missing...)
		at.own().Set("depends_on", append(at.own().Texts("depends_on"), missing...))
		changed = true
	}
	if p.Output != "" && p.Output != at.text("output") {
		at.own().Set("output", p.Output)
		changed = true
	}
	return changed
}

// own returns the mapping with the definition of a task.
func (p *place) own() *checkpoint.Map {
	for _, m := range []*checkpoint.Map{p.task, p.node, p.state} {
		if m != nil {
			return m
		}
	}
	return checkpoint.NewMap()
}

// insert adds a new task in the format of the record: list or mapping.
func (l *List) insert(id string, task *checkpoint.Map) {
	doc := l.r.Doc()
	if list, ok := value(doc, "tasks").([]any); ok {
		named := checkpoint.NewMap()
		named.Set("id", id)
		named.Merge(task)
		l.at[id].task = named
		doc.Set("tasks", append(slices.Clone(list), named))
		return
	}
	doc.MustSub("tasks").Set(id, task)
}

// without returns the elements of a that are not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}
