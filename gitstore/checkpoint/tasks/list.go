package tasks

import (
	"cmp"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
)

// A Task is one task of a record.
type Task struct {
	ID, Status    string
	Attempts      int
	Output, Error string
	Needs         []string // the tasks that must be complete before
	By            string   // who claimed it, "" for nobody who has a name
	WaitsFor      string   // the failed task that keeps it from running
	Suspected     string   // since when its worker gives no sign of life, "" where it does
	Critical      bool     // its failure ends the workflow
	InGraph       bool     // a node of the execution graph
}

// A List is the tasks of a record. What changes them changes the record.
type List struct {
	r     *checkpoint.Record
	ids   []string
	at    map[string]*place
	needs map[string][]string
	gates map[string][]string // by task, those that a person approves when it is complete
}

// place is where the record has a task; each may be nil.
type place struct {
	task  *checkpoint.Map // below tasks
	state *checkpoint.Map // below execution_graph.node_states
	node  *checkpoint.Map // among execution_graph.nodes
}

// Of returns the tasks of a record: those of tasks, in their order, then the
// graph's that are not among them.
func Of(r *checkpoint.Record) *List {
	l := &List{r: r, at: map[string]*place{}, needs: map[string][]string{}, gates: map[string][]string{}}
	each(value(r.Doc(), "tasks"), func(id string, m *checkpoint.Map) { l.place(id).task = m })
	graph := r.Doc().Sub("execution_graph")
	each(value(graph, "nodes"), func(id string, m *checkpoint.Map) { l.place(id).node = m })
	each(value(graph, "node_states"), func(id string, m *checkpoint.Map) { l.place(id).state = m })
	l.readNeeds(graph)
	return l
}

// each calls do for the mappings of a mapping by id, or of a list where each
// has its id.
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

// readNeeds collects what every task waits for, each once.
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

// distinct removes what is there twice.
func distinct(ids []string) []string {
	seen := make(map[string]bool, len(ids))
	return slices.DeleteFunc(ids, func(id string) bool {
		was := seen[id]
		seen[id] = true
		return was
	})
}

// All returns every task, in the order of the record.
func (l *List) All() []Task {
	out := make([]Task, len(l.ids))
	for i, id := range l.ids {
		out[i], _ = l.Task(id)
	}
	return out
}

// Record returns the record that the tasks are of.
func (l *List) Record() *checkpoint.Record { return l.r }

// Has reports whether there is a task of that id.
func (l *List) Has(id string) bool { return l.at[id] != nil }

// Left returns the tasks that are not over, in the order of the record.
func (l *List) Left() []string {
	var out []string
	for _, t := range l.All() {
		if !t.Over() {
			out = append(out, t.ID)
		}
	}
	return out
}

// Task returns one task and whether there is one of that id.
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

// maps are the mappings in the order in which they are asked.
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

// set writes a value to every place that holds how the task stands; nil
// removes it.
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

// setStatus writes a status; the graph has its own word for what cannot run.
func (p *place) setStatus(status string) {
	p.set("status", status)
	if p.state != nil && status == Blocked {
		p.state.Set("status", Skipped)
	}
}

// moved returns the place of a task that is about to move: a node of the graph
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
