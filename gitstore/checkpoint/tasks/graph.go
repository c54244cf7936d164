package tasks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// A CycleError reports tasks that depend on each other. IDs starts and ends with the same
// id.
type CycleError struct{ IDs []string }

func (e *CycleError) Error() string { return "a cycle of tasks: " + strings.Join(e.IDs, " -> ") }

// Layers sorts ids into layers. Each id depends only on ids in earlier layers. Ids within
// a layer are in natural order, 2 before 10. Dependencies outside ids count as satisfied.
// Layers fails with *CycleError if ids depend on each other.
func Layers(ids []string, needs func(id string) []string) ([][]string, error) {
	known := make(map[string]bool, len(ids))
	for _, id := range ids {
		known[id] = true
	}
	waits := make(map[string]int, len(ids))
	next := map[string][]string{}
	for id := range known {
		for _, n := range slices.Compact(slices.Sorted(slices.Values(needs(id)))) {
			if known[n] {
				waits[id]++
				next[n] = append(next[n], id)
			}
		}
	}
	var out [][]string
	var layer []string
	for id := range known {
		if waits[id] == 0 {
			layer = append(layer, id)
		}
	}
	for left := len(known); left > 0; left -= len(out[len(out)-1]) {
		if len(layer) == 0 {
			left := func(id string) []string {
				return slices.DeleteFunc(slices.Clone(needs(id)), func(n string) bool { return !known[n] })
			}
			for _, id := range slices.SortedFunc(maps.Keys(known), natural) {
				if way := round(id, left); way != nil {
					return nil, &CycleError{way}
				}
			}
		}
		slices.SortFunc(layer, natural)
		out = append(out, layer)
		var after []string // ids without further dependencies
		for _, id := range layer {
			delete(known, id)
			for _, n := range next[id] {
				if waits[n]--; waits[n] == 0 {
					after = append(after, n)
				}
			}
		}
		layer = after
	}
	return out, nil
}

// natural compares texts, with embedded numbers by value.
func natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		n, m := digits(x), digits(y)
		if n == 0 || m == 0 {
			if x[0] != y[0] {
				return strings.Compare(x[:1], y[:1])
			}
			x, y = x[1:], y[1:]
			continue
		}
		u, v := strings.TrimLeft(x[:n], "0"), strings.TrimLeft(y[:m], "0")
		if len(u) != len(v) {
			return len(u) - len(v)
		}
		if c := strings.Compare(u, v); c != 0 {
			return c
		}
		x, y = x[n:], y[m:]
	}
	if c := len(x) - len(y); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

// Batches returns the unfinished tasks as sequential batches. It fails with *CycleError
// if tasks depend on each other.
func (l *List) Batches() ([][]string, error) {
	return Layers(l.Left(), l.needsOf)
}

// BatchWarning returns a warning if the current batch number exceeds the number of
// batches, otherwise "".
func (l *List) BatchWarning() string {
	left, err := l.Batches()
	done, current := slices.Max(append(l.r.CompletedBatches(), 0)), l.r.CurrentBatch()
	if count := done + len(left); err == nil && len(left) > 0 && current > count {
		return fmt.Sprintf("The current batch is %d of %d", current, count)
	}
	return ""
}

// Point returns the resume point of the graph, like batch_2_task_1: the first unfinished
// task of the first unfinished layer. It returns "" if the record stores batches, or if
// all tasks are over.
func (l *List) Point() string {
	if value(l.r.Doc().Sub("execution_graph"), "batches") != nil {
		return ""
	}
	for _, layer := range l.layers() {
		for i, id := range layer {
			if t, _ := l.Task(id); !t.Over() {
				return fmt.Sprintf("batch_%d_task_%d", l.currentBatch(), i+1)
			}
		}
	}
	return ""
}

// Ready returns the tasks that can start now.
func (l *List) Ready() []string {
	var out []string
	awaiting := l.r.Awaiting()
	for _, t := range l.All() {
		if t.open() && len(l.missing(t)) == 0 && !slices.Contains(awaiting, t.ID) {
			out = append(out, t.ID)
		}
	}
	return out
}

// A Plan describes a planned task.
type Plan struct {
	ID     string
	Needs  []string // tasks to complete first
	Output string   // expected output file
}

// Add adds pending tasks. An existing task keeps its status and gets missing dependencies
// and the output of the plan. Add fails with *CycleError for a cycle through a new dependency,
// and with *UnknownError if a dependency does not exist. It returns ErrNothing if the record
// already has everything.
func (l *List) Add(plans ...Plan) error {
	changed := false
	var linked []string // tasks with new dependencies
	for _, p := range plans {
		if len(without(p.Needs, l.needs[p.ID])) > 0 {
			linked = append(linked, p.ID)
		}
		changed = l.add(p) || changed
	}
	for _, p := range plans {
		for _, id := range p.Needs {
			if l.at[id] == nil {
				return &UnknownError{id}
			}
		}
	}
	for _, id := range linked {
		if way := round(id, l.needsOf); way != nil {
			return &CycleError{way}
		}
	}
	if !changed {
		return ErrNothing
	}
	return nil
}

// digits returns the number of leading digits.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// layers returns the layers of the whole graph regardless of status, nil if the graph has
// a cycle.
func (l *List) layers() [][]string {
	var nodes []string
	for _, t := range l.All() {
		if t.InGraph {
			nodes = append(nodes, t.ID)
		}
	}
	layers, _ := Layers(nodes, l.needsOf)
	return layers
}

func (l *List) currentBatch() int {
	if n := l.r.CurrentBatch(); n > 0 {
		return n
	}
	if done := l.r.CompletedBatches(); len(done) > 0 {
		return slices.Max(done) + 1
	}
	return 1
}

// missing returns the unfinished dependencies of a task. Unknown tasks are ignored, so
// that a task does not wait forever.
func (l *List) missing(t Task) []string {
	var out []string
	for _, id := range t.Needs {
		if n, ok := l.Task(id); ok && n.Status != Complete {
			out = append(out, id)
		}
	}
	return out
}

func (l *List) needsOf(id string) []string { return l.needs[id] }

// round returns the shortest cycle through a task, nil if the task is in no cycle.
func round(id string, needs func(id string) []string) []string {
	from := map[string]string{}
	for next := []string{id}; len(next) > 0; next = next[1:] {
		for _, n := range needs(next[0]) {
			if _, seen := from[n]; !seen {
				from[n] = next[0]
				next = append(next, n)
			}
		}
	}
	if _, back := from[id]; !back {
		return nil
	}
	way := []string{id}
	for at := from[id]; at != id; at = from[at] {
		way = append(way, at)
	}
	way = append(way, id)
	slices.Reverse(way)
	return way
}

func (l *List) add(p Plan) bool {
	at, known := l.at[p.ID]
	if !known {
		at = l.place(p.ID)
		at.task = l.insert(p.ID)
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

// insert adds a new task in the format of the record: list or mapping.
func (l *List) insert(id string) *checkpoint.Map {
	task := checkpoint.NewMap()
	if list, ok := value(l.r.Doc(), "tasks").([]any); ok {
		task.Set("id", id)
		l.r.Doc().Set("tasks", append(slices.Clone(list), task))
	} else {
		l.r.Doc().MustSub("tasks").Set(id, task)
	}
	task.Set("status", Pending)
	return task
}

// without returns the elements of a that are not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
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

// batchOf returns the batch of a graph task: the stored batch with the task, or the
// task's layer with the number of the current batch if no batches are stored. It returns
// false for tasks outside the graph.
func (l *List) batchOf(id string) (batch, bool) {
	if t, ok := l.Task(id); !ok || !t.InGraph {
		return batch{}, false
	}
	stored := l.r.Doc().Sub("execution_graph").List("batches")
	for i, e := range stored {
		m, _ := e.(*checkpoint.Map)
		if tasks := m.Texts("tasks"); slices.Contains(tasks, id) {
			n, ok := checkpoint.Number(m.Text("batch_id")).Int()
			if !ok {
				n = int64(i + 1)
			}
			return batch{int(n), tasks, m}, true
		}
	}
	if len(stored) > 0 {
		return batch{}, false
	}
	layers := l.layers()
	i := slices.IndexFunc(layers, func(layer []string) bool { return slices.Contains(layer, id) })
	if i < 0 {
		return batch{}, false
	}
	return batch{l.currentBatch(), layers[i], nil}, true
}

// A batch is the batch of a task.
type batch struct {
	number int
	tasks  []string
	stored *checkpoint.Map // nil if the record stores only nodes
}

// all reports whether every task of the batch satisfies is.
func (l *List) all(b batch, is func(Task) bool) bool {
	return !slices.ContainsFunc(b.tasks, func(id string) bool {
		t, _ := l.Task(id)
		return !is(t)
	})
}
