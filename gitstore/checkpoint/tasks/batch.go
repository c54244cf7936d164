package tasks

import (
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// Batches returns the unfinished tasks as sequential batches. It fails with *CycleError
// if tasks depend on each other.
func (l *List) Batches() ([][]string, error) {
	return Layers(l.Left(), func(id string) []string { return l.needs[id] })
}

// Check fails with *CycleError if tasks depend on each other, regardless of their status.
func (l *List) Check() error {
	_, err := Layers(l.ids, func(id string) []string { return l.needs[id] })
	return err
}

// BatchWarning returns a warning if the current batch number exceeds the number of
// batches, otherwise "".
func (l *List) BatchWarning() string {
	left, err := l.Batches()
	done, current := l.r.CompletedBatches(), l.r.CurrentBatch()
	if count := len(done) + len(left); err == nil && len(left) > 0 && current > count {
		return fmt.Sprintf("The current batch is %d of %d", current, count)
	}
	return ""
}

// A batch is the batch of a task.
type batch struct {
	number int
	tasks  []string
	stored *checkpoint.Map // nil if the record stores only nodes
}

// batchOf returns the batch of a graph task: the stored batch with the task, or the
// task's layer with the number of the current batch if no batches are stored. It returns
// false for tasks outside the graph.
func (l *List) batchOf(id string) (batch, bool) {
	if t, ok := l.Task(id); !ok || !t.InGraph {
		return batch{}, false
	}
	stored, _ := value(l.r.Doc().Sub("execution_graph"), "batches").([]any)
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

// layers returns the layers of the whole graph regardless of status, nil if the graph has
// a cycle.
func (l *List) layers() [][]string {
	var nodes []string
	for _, t := range l.All() {
		if t.InGraph {
			nodes = append(nodes, t.ID)
		}
	}
	layers, _ := Layers(nodes, func(id string) []string { return l.needs[id] })
	return layers
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

func (l *List) currentBatch() int {
	if n := l.r.CurrentBatch(); n > 0 {
		return n
	}
	if done := l.r.CompletedBatches(); len(done) > 0 {
		return slices.Max(done) + 1
	}
	return 1
}

// all reports whether every task of the batch satisfies is.
func (l *List) all(b batch, is func(Task) bool) bool {
	return !slices.ContainsFunc(b.tasks, func(id string) bool {
		t, _ := l.Task(id)
		return !is(t)
	})
}

// complete records a batch as completed, once.
func (l *List) complete(b batch) {
	done := append(l.r.CompletedBatches(), b.number)
	slices.Sort(done)
	l.r.SetCompletedBatches(slices.Compact(done))
	if l.r.CurrentBatch() <= b.number {
		l.r.SetCurrentBatch(b.number + 1)
	}
	if b.stored != nil {
		b.stored.Set("status", Complete)
	}
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

func joined(ids []string) string { return strings.Join(ids, ", ") }
