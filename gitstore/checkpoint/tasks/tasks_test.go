package tasks

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var noon = time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)

func of(t testing.TB, text string) *List {
	t.Helper()
	m, err := checkpoint.DecodeDocument([]byte(text), checkpoint.DefaultLimits)
	require.NoError(t, err)
	return Of(checkpoint.FromDoc(m))
}

// The record as one line of JSON.
func said(t testing.TB, l *List) string {
	t.Helper()
	data, err := l.r.Doc().MarshalJSON()
	require.NoError(t, err)
	return string(data)
}

func at(t testing.TB, l *List, id string) Task {
	t.Helper()
	task, ok := l.Task(id)
	require.True(t, ok, id)
	return task
}

// graph combines the graph formats of another system: nodes and edges.
const graph = `
execution_graph:
  graph_id: GRAPH-1
  nodes:
    - {id: investigate, dependencies: []}
    - {id: spec, dependencies: [investigate]}
    - {id: plan, dependencies: [investigate]}
    - {id: review, critical: true}
    - {id: brief}
  edges:
    - {from: investigate, to: spec, type: data}
    - {from: spec, to: review, type: sequence}
`

// Random graphs: each id is in one layer, the earliest possible after its dependencies.
// An added cycle is reported.
func TestLayersOfRandomGraphs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 1 + rng.IntN(30)
		ids, needs := make([]string, n), map[string][]string{}
		for i := range ids {
			ids[i] = fmt.Sprint("t", i)
			for range rng.IntN(3) {
				if i > 0 {
					needs[ids[i]] = append(needs[ids[i]], ids[rng.IntN(i)])
				}
			}
		}
		layers, err := Layers(ids, func(id string) []string { return needs[id] })
		require.NoError(t, err)
		depth := map[string]int{}
		for k, layer := range layers {
			for _, id := range layer {
				_, twice := depth[id]
				require.False(t, twice)
				depth[id] = k
				latest := -1
				for _, need := range needs[id] {
					require.Contains(t, depth, need)
					latest = max(latest, depth[need])
				}
				require.Equal(t, latest+1, k, id)
			}
		}
		require.Len(t, depth, n)
		first, last := ids[0], layers[len(layers)-1][0]
		needs[first] = []string{last}
		needs[last] = append(needs[last], first)
		_, err = Layers(ids, func(id string) []string { return needs[id] })
		var cycle *CycleError
		require.ErrorAs(t, err, &cycle)
		require.Equal(t, cycle.IDs[0], cycle.IDs[len(cycle.IDs)-1])
		for i, id := range cycle.IDs[1:] {
			require.Contains(t, needs[cycle.IDs[i]], id)
		}
	}
}

// Repeated status changes have no effect.
func TestTaskLifecycle(t *testing.T) {
	l := of(t, "tasks: {a: {status: pending, mine: 7}}")
	require.NoError(t, l.Start("a", Claim{By: "w1", At: noon}))
	assert.Equal(t, Task{ID: "a", Status: Running, Attempts: 1, By: "w1"}, at(t, l, "a"))
	require.ErrorIs(t, l.Start("a", Claim{By: "w1", At: noon}), ErrNothing)
	require.EqualError(t, l.Start("a", Claim{By: "w2"}), "task a: w1 is working on it")
	require.EqualError(t, l.Start("a", Claim{}), "task a: w1 is working on it")

	_, err := l.Fail("a", Failure{Error: "no disk", At: noon})
	require.NoError(t, err)
	assert.Equal(t, Task{ID: "a", Status: Failed, Attempts: 1, Error: "no disk", By: "w1"}, at(t, l, "a"))
	_, err = l.Fail("a", Failure{Error: "no disk"})
	require.ErrorIs(t, err, ErrNothing)

	require.NoError(t, l.Start("a", Claim{At: noon}))
	assert.Equal(t, Task{ID: "a", Status: Running, Attempts: 2}, at(t, l, "a"))
	require.EqualError(t, l.Start("a", Claim{}), "task a: it is already running")
	_, err = l.Done("a", Result{Output: "out.json", Digest: "blob:1", At: noon})
	require.NoError(t, err)
	_, err = l.Done("a", Result{Output: "out.json"})
	require.ErrorIs(t, err, ErrNothing)
	_, err = l.Done("a", Result{})
	require.ErrorIs(t, err, ErrNothing)
	require.EqualError(t, l.Start("a", Claim{}), "task a: it is already complete")
	_, err = l.Fail("a", Failure{})
	require.EqualError(t, err, "task a: it is already complete")
	assert.Equal(t, `{"tasks":{"a":{"status":"complete","mine":7,"attempts":2,"started_at":"2026-02-14T12:00:00.000000Z",`+
		`"completed_at":"2026-02-14T12:00:00.000000Z","output":"out.json","output_digest":"blob:1"}}}`, said(t, l))

	for _, move := range []func() error{
		func() error { return l.Start("b", Claim{}) },
		func() error { _, err := l.Done("b", Result{}); return err },
		func() error { _, err := l.Fail("b", Failure{}); return err },
		func() error { _, err := l.Recover(Recovery{}, "b"); return err },
		func() error { return l.Add(Plan{ID: "c", Needs: []string{"b"}}) },
	} {
		require.EqualError(t, move(), `task "b": there is no such task`)
	}
}

// Dependents of a failed task are blocked until the task restarts.
func TestFailBlocksDependents(t *testing.T) {
	l := of(t, graph+"tasks: {x: {}, y: {depends_on: [x]}, z: {depends_on: [y], status: running}}\n")
	out, err := l.Fail("investigate", Failure{Error: "no"})
	require.NoError(t, err)
	assert.Equal(t, []string{"spec", "plan", "review"}, out.Waiting)
	assert.Equal(t, Skipped, at(t, l, "review").Status)
	assert.Equal(t, "investigate", at(t, l, "review").WaitsFor)
	out, err = l.Fail("x", Failure{})
	require.NoError(t, err)
	assert.Equal(t, Outcome{Waiting: []string{"y"}}, out, "what runs is left alone")
	assert.Equal(t, Blocked, at(t, l, "y").Status)
	require.NoError(t, l.Start("investigate", Claim{}))
	assert.Equal(t, Task{ID: "review", Status: Pending, Needs: []string{"spec"}, Critical: true, InGraph: true}, at(t, l, "review"))
	assert.Equal(t, Blocked, at(t, l, "y").Status)
	_, err = l.Done("x", Result{})
	require.NoError(t, err)
	assert.Equal(t, Pending, at(t, l, "y").Status)

	out, err = l.Fail("review", Failure{Error: "unsafe"})
	require.NoError(t, err)
	assert.Equal(t, Outcome{Aborted: true, Batch: 1}, out)
	assert.Equal(t, Failed, l.r.WorkflowStatus())
	assert.Equal(t, "critical task review failed: unsafe", l.r.LastError())
}

// Batches complete in sequence, each once.
func TestBatchComplete(t *testing.T) {
	for name, text := range map[string]string{
		"by layers": graph,
		"as stored": graph + "  batches:\n    - {batch_id: 1, tasks: [brief, investigate], status: pending}\n    - {batch_id: 2, tasks: [plan, spec]}\n    - {batch_id: 3, tasks: [review]}\n",
	} {
		t.Run(name, func(t *testing.T) {
			l := of(t, text)
			var completed, points []string
			for _, id := range []string{"investigate", "brief", "spec", "plan", "review"} {
				done, err := l.Done(id, Result{At: noon})
				require.NoError(t, err)
				completed = append(completed, fmt.Sprint(id, done))
				points = append(points, l.Point())
			}
			if name == "by layers" {
				assert.Equal(t, []string{"batch_1_task_1", "batch_2_task_1", "batch_2_task_1", "batch_3_task_1", ""}, points)
			}
			assert.Equal(t, []string{"investigate0", "brief1", "spec0", "plan2", "review3"}, completed)
			assert.Equal(t, []int{1, 2, 3}, l.r.CompletedBatches())
			assert.Equal(t, 4, l.r.CurrentBatch())
		})
	}
	l := of(t, "execution_graph: {completed_batches: [1, 2], current_batch: 3, node_states: {a: {status: running}}}\ntasks: {b: {}}")
	done, err := l.Done("b", Result{})
	require.NoError(t, err)
	assert.Zero(t, done, "no node of the graph")
	done, err = l.Done("a", Result{})
	require.NoError(t, err)
	assert.Equal(t, 3, done)
	l = of(t, "execution_graph: {batches: [{tasks: [a, b]}], node_states: {a: {status: failed}, b: {status: running}}}")
	out, err := l.Fail("b", Failure{})
	require.NoError(t, err)
	assert.Equal(t, 1, out.Batch, "all of it failed")
}

func TestAdd(t *testing.T) {
	l := of(t, "{}")
	require.NoError(t, l.Add(Plan{ID: "a", Output: "out/a"}, Plan{ID: "b", Needs: []string{"a"}}))
	require.ErrorIs(t, l.Add(Plan{ID: "a"}, Plan{ID: "b", Needs: []string{"a"}}), ErrNothing)
	_, err := l.Done("a", Result{})
	require.NoError(t, err)
	require.NoError(t, l.Add(Plan{ID: "a", Output: "out/a2"}))
	assert.Equal(t, Task{ID: "a", Status: Complete, Attempts: 1, Output: "out/a2"}, at(t, l, "a"))
	require.EqualError(t, l.Add(Plan{ID: "a", Needs: []string{"b"}}), "a cycle of tasks: a -> b -> a")
	l = of(t, "tasks: [{id: a, status: running}]")
	require.NoError(t, l.Add(Plan{ID: "b"}))
	assert.Equal(t, `{"tasks":[{"id":"a","status":"running"},{"id":"b","status":"pending"}]}`, said(t, l))
	require.NoError(t, Of(l.r).Start("b", Claim{At: noon}))
	assert.Equal(t, Running, at(t, Of(l.r), "b").Status)
}

// An existing cycle, possible after a merge, does not prevent unrelated tasks and can be
// resolved.
func TestAddWithExistingCycle(t *testing.T) {
	l := of(t, "tasks: {a: {depends_on: [b]}, b: {depends_on: [a]}}")
	require.NoError(t, l.Add(Plan{ID: "c"}, Plan{ID: "d", Needs: []string{"a", "c"}}))
	require.NoError(t, l.Add(Plan{ID: "a", Output: "out/a"}))
	require.EqualError(t, l.Add(Plan{ID: "c", Needs: []string{"d"}}), "a cycle of tasks: c -> d -> c")
	l = of(t, "tasks: {a: {depends_on: [b]}, b: {depends_on: [a]}}")
	require.NoError(t, l.Start("a", Claim{At: noon, Force: true}))
	_, err := l.Done("a", Result{})
	require.NoError(t, err)
	assert.Equal(t, []string{"b"}, l.Ready())
	_, err = l.Batches()
	require.NoError(t, err)
}

func TestNatural(t *testing.T) {
	want := []string{"", "T", "T01", "T1", "T2", "T10", "T10a", "Ta", "a", "a b"}
	got := slices.Clone(want)
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
	slices.SortFunc(got, natural)
	assert.Equal(t, strings.Join(want, "|"), strings.Join(got, "|"))
}
