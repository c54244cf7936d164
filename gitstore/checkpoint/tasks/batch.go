package tasks

import (
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// Batches returns what is left to do, in batches that can run one after the
// other: layers of the tasks that are not over. It fails with a *CycleError.
func (l *List) Batches() ([][]string, error) {
	return Layers(l.Left(), func(id string) []string { return l.needs[id] })
}

// Check fails with a *CycleError when tasks wait for one another, whatever
// became of them.
func (l *List) Check() error {
	_, err := Layers(l.ids, func(id string) []string { return l.needs[id] })
	return err
}

// BatchWarning says that the record's current batch is none of those that there
// are, "" where it is or where there is nothing to compare it with.
func (l *List) BatchWarning() string {
	left, err := l.Batches()
	done, current := l.r.CompletedBatches(), l.r.CurrentBatch()
	if count := len(done) + len(left); err == nil && len(left) > 0 && current > count {
		return fmt.Sprintf("The current batch is %d of %d", current, count)
	}
	return ""
}

// A batch is the one that a task belongs to.
type batch struct {
	number int
	tasks  []string
	stored *checkpoint.Map // nil where the record only has the nodes
}

// batchOf finds the batch of a task of the graph: the one that names it, or
// the layer that is worked on, which is the current batch. A task outside the
// graph has none.
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

// layers are those of the whole graph, whatever became of its nodes; none where
// they wait for one another.
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

// Point returns where work on the graph goes on, as batch_2_task_1: the first
// task that is not over of the first layer that has one. It is "" where the
// record has its batches itself, or nothing is left.
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

// all reports whether every task of the batch is as asked.
func (l *List) all(b batch, is func(Task) bool) bool {
	return !slices.ContainsFunc(b.tasks, func(id string) bool {
		t, _ := l.Task(id)
		return !is(t)
	})
}

// complete records that a batch is completed, once.
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

// Ready returns the tasks that can be begun now.
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

// missing are the tasks that one waits for. One that nobody knows is no reason
// to wait for ever.
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
