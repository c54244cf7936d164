// Package tasks applies status changes to the tasks of a record: workers, results and the
// next possible tasks. All functions are pure: the caller reads files and saves the
// record.
//
// # Storage
//
//	tasks:                       by id, or a list of mappings with an id
//	  T1: {status: complete, attempts: 1, output: out/T1.json, depends_on: [T0],
//	       claimed_by: worker 7, started_at: ..., completed_at: ..., error: ...}
//	execution_graph:
//	  nodes: [{id: T1, dependencies: [T0], critical: true}]
//	  edges: [{from: T0, to: T1, type: data}]   type approval: a person
//	                             approves T1 when T0 is complete
//	  batches: [{batch_id: 1, tasks: [T0]}]
//	  completed_batches: [1]
//	  current_batch: 2
//	  node_states:
//	    T1: {status: running, started_at: ...}
//
// A task can be stored in one place or in both; changes are written to both. Unknown keys
// and values are preserved.
//
// # Status changes
//
// The table in transition.go lists the changes. A running task can be suspected (suspected_at),
// which counts no attempt. Clear and every change of a running task remove the suspicion.
// heartbeat_at is the worker's last answer.
//
// A repeated change modifies nothing and returns ErrNothing. The attempts of a pending
// task include its next attempt, if an earlier attempt was lost.
package tasks

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// A Task is a task of a record.
type Task struct {
	ID        string   `json:"id"`
	Status    string   `json:"status"`
	Attempts  int      `json:"attempts"`
	Output    string   `json:"output" empty:"null"`
	Error     string   `json:"error" empty:"null"`
	Needs     []string `json:"depends_on"`              // ids of tasks to complete first
	By        string   `json:"claimed_by" empty:"null"` // name of the worker, "" if unnamed
	WaitsFor  string   `json:"waits_for" empty:"null"`  // failed task that blocks this task
	Suspected string   // start time of a suspicion, "" if not suspected
	Critical  bool     // its failure fails the workflow
	InGraph   bool     // node of the execution graph
}

// A List holds the tasks of a record. Methods that change a task change the record.
type List struct {
	r     *checkpoint.Record
	ids   []string
	at    map[string]*place
	needs map[string][]string
	gates map[string][]string // by task: tasks that need approval after its completion
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

// seen returns the time of the last sign of life of a task's worker: its start, its
// heartbeat, or the last output of the agent with its name.
func (l *List) seen(p *place) time.Time {
	last := time.Time{}
	see := func(v any) {
		if at, err := checkpoint.ParseTime(v); err == nil && at.After(last) {
			last = at
		}
	}
	for _, key := range []string{"started_at", heartbeat, "last_heartbeat"} {
		see(p.text(key))
	}
	if by := p.text("claimed_by"); by != "" {
		for _, m := range l.r.Doc().Sub("agent_outputs").Sub(by).Subs() {
			see(value(m, "completed_at"))
		}
	}
	return last
}

// claimedByOther reports whether a task is running for another worker than the named one.
func (t Task) claimedByOther(by string) bool {
	return t.Status == Running && t.By != "" && by != "" && by != t.By
}

// Status values of a task.
const (
	Pending  = "pending"
	Queued   = "queued"
	Running  = "running"
	Complete = "complete"
	Failed   = "failed"
	Skipped  = "skipped"
	Blocked  = "blocked"
)

// Over reports whether the task is complete or skipped.
func (t Task) Over() bool { return t.Status == Complete || t.Status == Skipped }

// IsComplete reports whether a status word means complete.
func IsComplete(word string) bool { return word != "" && statusOf(word) == Complete }

// OutputStatus returns the status field of a JSON output, "" if the output has no status.
// It fails if data is not valid JSON, such as a truncated file.
func OutputStatus(data []byte) (string, error) {
	if !json.Valid(data) {
		return "", errors.New("not valid JSON")
	}
	m, err := checkpoint.DecodeDocument(data, checkpoint.DefaultLimits)
	if err != nil {
		return "", nil // valid JSON, but a list or larger than a record
	}
	return m.Text("status"), nil
}

// ErrNothing is returned by a repeated change, if the record already has the result.
var ErrNothing = errors.New("nothing to do")

// An UnknownError reports a task that the record does not have.
type UnknownError struct{ ID string }

func (e *UnknownError) Error() string { return fmt.Sprintf("task %q: there is no such task", e.ID) }

// A TransitionError reports a status change that the task's state forbids. Running means
// that the task is running, Live that its worker may be alive, Awaited that its approval
// is pending; Why has the reason.
type TransitionError struct {
	ID, Why                string
	Running, Live, Awaited bool
}

func (e *TransitionError) Error() string { return fmt.Sprintf("task %s: %s", e.ID, e.Why) }

// A TaskLimitError reports a task that has reached its limit of attempts.
type TaskLimitError struct {
	ID              string
	Attempts, Limit int
}

func (e *TaskLimitError) Error() string {
	return fmt.Sprintf("task %s: %d attempts, the limit is %d", e.ID, e.Attempts, e.Limit)
}

// place holds the mappings of a task in the record; each can be nil.
type place struct {
	task  *checkpoint.Map // in tasks
	state *checkpoint.Map // in execution_graph.node_states
	node  *checkpoint.Map // in execution_graph.nodes
}

// each calls do for each mapping in a mapping by id, or in a list of mappings with an id.
func each(v any, do func(id string, m *checkpoint.Map)) {
	switch v := v.(type) {
	case *checkpoint.Map:
		for id, m := range v.Subs() {
			if id != "" {
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

func value(m *checkpoint.Map, key string) any {
	v, _ := m.Get(key)
	return v
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
	for _, m := range graph.Maps("edges") {
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

func (p *place) text(key string) string {
	for _, m := range p.maps() {
		if s := m.Text(key); s != "" {
			return s
		}
	}
	return ""
}

// maps returns the mappings of a task in order of precedence.
func (p *place) maps() []*checkpoint.Map { return []*checkpoint.Map{p.task, p.state, p.node} }

// statusOf returns the status for a word in a record. An empty word means Pending;
// unknown words are returned in lower case.
func statusOf(word string) string {
	switch s := strings.ToLower(word); s {
	case "", "todo", "ready", "not_started":
		return Pending
	case "completed", "done", "success":
		return Complete
	case "in_progress", "started":
		return Running
	case "failure", "error":
		return Failed
	default:
		return s
	}
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

// open reports whether the task is pending or queued.
func (t Task) open() bool { return t.Status == Pending || t.Status == Queued }

func refuse(t Task, format string, args ...any) error {
	return &TransitionError{ID: t.ID, Why: fmt.Sprintf(format, args...), Running: t.Status == Running}
}
