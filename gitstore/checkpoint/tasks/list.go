package tasks

import (
	"cmp"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
)

// A Task is a task of a record.
type Task struct {
	ID, Status    string
	Attempts      int
	Output, Error string
	Needs         []string // ids of tasks to complete first
	By            string   // name of the worker, "" if unnamed
	WaitsFor      string   // failed task that blocks this task
	Suspected     string   // start time of a suspicion, "" if not suspected
	Critical      bool     // its failure fails the workflow
	InGraph       bool     // node of the execution graph
}

// A List holds the tasks of a record. Methods that change a task change the record.
type List struct {
	r     *checkpoint.Record
	ids   []string
	at    map[string]*place
	needs map[string][]string
	gates map[string][]string // by task: tasks that need approval after its completion
}

// place holds the mappings of a task in the record; each can be nil.
type place struct {
	task  *checkpoint.Map // in tasks
	state *checkpoint.Map // in execution_graph.node_states
	node  *checkpoint.Map // in execution_graph.nodes
}

// Of returns the tasks of a record: first the tasks section, then graph nodes outside
// this section.
func Of(r *checkpoint.Record) *List {
	l := &List{r: r, at: map[string]*place{}, needs: map[string][]string{}, gates: map[string][]string{}}
	each(value(r.Doc(), "tasks"), func(id string, m *checkpoint.Map) { l.place(id).task = m })
	graph := r.Doc().Sub("execution_graph")
	each(value(graph, "nodes"), func(id string, m *checkpoint.Map) { l.place(id).node = m })
	each(value(graph, "node_states"), func(id string, m *checkpoint.Map) { l.place(id).state = m })
	l.readNeeds(graph)
	return l
}

// each calls do for each mapping in a mapping by id, or in a list of mappings with an id.
func each(v any, do func(id string, m *checkpoint.Map)) {
	switch v := v.(type) {
	case *checkpoint.Map:
		for id, e := range v.All() {
			if m, ok := e.(*checkpoint.Map); ok && id != "" {
				do(id, m)
			}
		}
	case []any:
		for _, e := range v {
			m, _ := e.(*checkpoint.Map)
			if id := cmp.Or(m.Text("id"), m.Text("task_id")); id != "" {
				do(id, m)
			}
		}
	}
}

func (l *List) place(id string) *place {
	p, ok := l.at[id]
	if !ok {
		p = &place{}
		l.at[id] = p
		l.ids = append(l.ids, id)
	}
	return p
}

// readNeeds collects the dependencies of all tasks without duplicates.
func (l *List) readNeeds(graph *checkpoint.Map) {
	for _, id := range l.ids {
		p := l.at[id]
		for _, m := range []*checkpoint.Map{p.task, p.node} {
			l.need(id, append(m.Texts("depends_on"), m.Texts("dependencies")...)...)
		}
	}
	edges, _ := value(graph, "edges").([]any)
	for _, e := range edges {
		m, _ := e.(*checkpoint.Map)
		if from, to := m.Text("from"), m.Text("to"); from != "" && l.at[to] != nil {
			l.need(to, from)
			if m.Text("type") == "approval" {
				l.gates[from] = append(l.gates[from], to)
			}
		}
	}
	for id := range l.needs {
		l.needs[id] = distinct(l.needs[id])
	}
}

func (l *List) need(id string, others ...string) { l.needs[id] = append(l.needs[id], others...) }

func distinct(ids []string) []string {
	seen := make(map[string]bool, len(ids))
	return slices.DeleteFunc(ids, func(id string) bool {
		was := seen[id]
		seen[id] = true
		return was
	})
}

// All returns all tasks in record order.
func (l *List) All() []Task {
	out := make([]Task, len(l.ids))
	for i, id := range l.ids {
		out[i], _ = l.Task(id)
	}
	return out
}

// Record returns the record of the tasks.
func (l *List) Record() *checkpoint.Record { return l.r }

// Has reports whether a task with this id exists.
func (l *List) Has(id string) bool { return l.at[id] != nil }

// Left returns the ids of unfinished tasks in record order.
func (l *List) Left() []string {
	var out []string
	for _, t := range l.All() {
		if !t.Over() {
			out = append(out, t.ID)
		}
	}
	return out
}

// Task returns the task with this id, and whether the task exists.
func (l *List) Task(id string) (Task, bool) {
	p, ok := l.at[id]
	if !ok {
		return Task{ID: id}, false
	}
	word := p.text("status")
	return Task{
		ID: id, Status: statusOf(word), Attempts: p.integer("attempts"), Output: p.text("output"), Error: p.text("error"),
		Needs: l.needs[id], By: p.text("claimed_by"), WaitsFor: p.text("waits_for"), Suspected: p.text(suspected), Critical: p.is("critical"),
		InGraph: p.node != nil || p.state != nil,
	}, true
}

// maps returns the mappings of a task in order of precedence.
func (p *place) maps() []*checkpoint.Map { return []*checkpoint.Map{p.task, p.state, p.node} }

func (p *place) text(key string) string {
	for _, m := range p.maps() {
		if s := m.Text(key); s != "" {
			return s
		}
	}
	return ""
}

func (p *place) integer(key string) int {
	n, _ := checkpoint.Number(p.text(key)).Int()
	return int(min(max(n, 0), 1<<30))
}

func (p *place) is(key string) bool {
	return slices.ContainsFunc(p.maps(), func(m *checkpoint.Map) bool { return value(m, key) == true })
}

// set writes a value to each mapping that holds the task's state. A nil value deletes the
// key.
func (p *place) set(key string, v any) {
	for _, m := range []*checkpoint.Map{p.task, p.state} {
		switch {
		case m == nil:
		case v == nil:
			m.Delete(key)
		default:
			m.Set(key, v)
		}
	}
}

// setStatus writes a status. The graph stores blocked as skipped.
func (p *place) setStatus(status string) {
	p.set("status", status)
	if p.state != nil && status == Blocked {
		p.state.Set("status", Skipped)
	}
}

// moved returns the place of a task before a status change. A graph node without a state
// gets a state.
func (l *List) moved(id string) *place {
	p := l.at[id]
	if p.state == nil && (p.node != nil || p.task == nil) {
		p.state = checkpoint.NewMap()
		l.r.Doc().MustSub("execution_graph").MustSub("node_states").Set(id, p.state)
	}
	return p
}

func value(m *checkpoint.Map, key string) any {
	v, _ := m.Get(key)
	return v
}
