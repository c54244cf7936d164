package join

import (
	"fmt"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func record(t *testing.T, text string) *checkpoint.Record {
	t.Helper()
	r, err := checkpoint.Decode([]byte("version: '1.0'\n" + text))
	require.NoError(t, err)
	return r
}

func TestMergeRecords(t *testing.T) {
	for _, c := range []struct{ name, base, other, newer, want string }{
		{
			"each completed a task",
			"tasks: {T1: {status: pending}, T2: {status: pending}}",
			"tasks: {T1: {status: complete, output: out/1, attempts: 1}, T2: {status: pending}}",
			"tasks: {T1: {status: pending}, T2: {status: complete, output: out/2}}",
			"tasks: {T1: {status: complete, output: out/1, attempts: 1}, T2: {status: complete, output: out/2}}",
		},
		{
			"batches of a phase that the newer has left",
			"workflow_state: {current_phase: A}\nexecution_graph: {completed_batches: [1], current_batch: 2}",
			"workflow_state: {current_phase: A}\nexecution_graph: {completed_batches: [1, 2], current_batch: 3}",
			"workflow_state: {current_phase: B}\nexecution_graph: {phases: {A: {completed_batches: [1], current_batch: 2}}}",
			"workflow_state: {current_phase: B}\nexecution_graph: {phases: {A: {completed_batches: [1, 2], current_batch: 3}}}\nrecovery_info: {resume_from: phase_B}",
		},
		{
			"each added one",
			"tasks: {T0: {status: pending}}",
			"tasks: {T0: {status: pending}, A: {status: complete}}",
			"tasks: {T0: {status: pending}, B: {status: running}}",
			"tasks: {T0: {status: pending}, B: {status: running}, A: {status: complete}}\nrecovery_info: {resume_from: T0}",
		},
		{"one took a task away", "tasks: {T1: {status: complete}, T2: {status: pending}}", "tasks: {T1: {status: complete}, T2: {status: running}}", "tasks: {T2: {status: pending}}", "tasks: {T2: {status: running}}\nrecovery_info: {resume_from: T2}"},
		{"the newer one began it anew", "tasks: {T1: {status: complete}}", "tasks: {T1: {status: complete}}", "tasks: {T1: {status: running}}", ""},
		{"both moved it: complete wins", "tasks: {T1: {status: running, attempts: 1}}", "tasks: {T1: {status: complete, attempts: 1}}", "tasks: {T1: {status: pending, attempts: 2}}", "tasks: {T1: {status: complete, attempts: 1}}"},
		{"both moved it: the newer wins", "tasks: {T1: {status: running, attempts: 1}}", "tasks: {T1: {status: failed, attempts: 1}}", "tasks: {T1: {status: complete, attempts: 1}}", ""},
		{
			"tasks as a list", "tasks: [{id: T1, status: pending}, {id: T2, status: pending}]",
			"tasks: [{id: T1, status: done}, {id: T2, status: pending}]", "tasks: [{id: T1, status: pending}, {id: T2, status: done}, {id: T3}]",
			"tasks: [{id: T1, status: done}, {id: T2, status: done}, {id: T3}]\nrecovery_info: {resume_from: T3}",
		},
		{
			"what waited is let go", "tasks: {T1: {status: failed}, T2: {status: blocked, waits_for: T1, depends_on: [T1]}}",
			"tasks: {T1: {status: complete}, T2: {status: pending, depends_on: [T1]}}",
			"tasks: {T1: {status: failed}, T2: {status: blocked, waits_for: T1, depends_on: [T1]}, T3: {status: pending}}",
			"tasks: {T1: {status: complete}, T2: {status: pending, depends_on: [T1]}, T3: {status: pending}}\nrecovery_info: {resume_from: T2}",
		},
		{
			"a batch that is complete by both",
			"execution_graph: {nodes: [{id: a}, {id: b}, {id: c, dependencies: [a, b]}]}",
			"execution_graph: {nodes: [{id: a}, {id: b}, {id: c, dependencies: [a, b]}], node_states: {a: {status: complete}}}",
			"execution_graph: {nodes: [{id: a}, {id: b}, {id: c, dependencies: [a, b]}], node_states: {b: {status: complete}}}",
			"execution_graph: {nodes: [{id: a}, {id: b}, {id: c, dependencies: [a, b]}], node_states: {b: {status: complete}, a: {status: complete}}, completed_batches: [1], current_batch: 2}\nrecovery_info: {resume_from: batch_2_task_1}",
		},
		{
			"phases and replans", "progress: {current: '1', completed: [], total: 3}",
			"progress: {current: '2', completed: ['1'], total: 3, replan_history: [{phase: '1', timestamp: t1}]}",
			"progress: {current: '1', completed: ['3'], total: 3, replan_history: [{phase: '3', timestamp: t2}]}",
			"progress: {current: '2', completed: ['1', '3'], total: 3, replan_history: [{phase: '3', timestamp: t2}, {phase: '1', timestamp: t1}]}\nrecovery_info: {resume_from: phase_2}",
		},
		{"nothing in common", "", "agent_outputs: {a: {x: {output_summary: s}}}", "agent_outputs: {b: {y: {output_summary: t}}}", "agent_outputs: {b: {y: {output_summary: t}}, a: {x: {output_summary: s}}}"},
		{"another workflow", "", "workflow: {started_at: t1}\ntasks: {T1: {status: complete}}", "workflow: {started_at: t2}\ntasks: {T2: {status: pending}}", ""},
		{"what is of one checkpoint alone", "note: a", "note: b\nworkflow_state: {current_phase: x}", "note: c", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, other, newer := record(t, c.base), record(t, c.other), record(t, c.newer)
			kept := newer.Clone()
			got := MergeRecords(base, other, newer)
			assert.True(t, checkpoint.Equal(kept.Doc(), newer.Doc()), "it is as it was")
			if c.want == "" {
				assert.Nil(t, got)
				return
			}
			require.NotNil(t, got)
			want, err := record(t, c.want).JSON()
			require.NoError(t, err)
			text, err := got.JSON()
			require.NoError(t, err)
			assert.JSONEq(t, string(want), string(text))
			assert.Nil(t, MergeRecords(other, got, got), "once is enough")
			assert.Nil(t, MergeRecords(base, newer, got), "what it holds adds nothing")
		})
	}
	assert.NotNil(t, MergeRecords(nil, record(t, "tasks: {T1: {status: complete}}"), record(t, "")))
}

// If both sides spent tokens, the newer side gets the tokens of the other side in addition.
func TestMergeOfSpentTokens(t *testing.T) {
	of := func(n int, more string) *checkpoint.Record {
		return record(t, fmt.Sprintf("agent_turn: {number: %d, later: 1, spent: [{agent: claude, input: %d}]}\n", n, n)+more)
	}
	got := MergeRecords(of(10, ""), of(13, "note: a"), of(15, "note: b"))
	require.NotNil(t, got)
	want := of(15, "note: b")
	want.SetSpent([]checkpoint.Spent{{Agent: "claude", Tokens: checkpoint.Tokens{Input: 18}}})
	assert.True(t, checkpoint.Equal(want.Doc(), got.Doc()))
	assert.Nil(t, MergeRecords(of(13, ""), of(13, ""), got), "once is enough")
	assert.Nil(t, MergeRecords(of(13, ""), of(10, ""), got), "never less")
	assert.Nil(t, MergeRecords(nil, record(t, ""), got))
	got = MergeRecords(of(10, ""), of(13, "workflow: {started_at: t1}"), of(10, "workflow: {started_at: t2}"))
	require.NotNil(t, got)
	assert.Equal(t, int64(13), got.AgentTurn().Spent[0].Input)
}

// The work for large records from untrusted sources is linear: for records of twice the size,
// Merge allocates at most about twice as much. The test is not parallel, because it counts the
// allocations of the whole process.
func TestMergeOfLargeRecordsIsLinear(t *testing.T) {
	many := func(format string, n int) string {
		var b strings.Builder
		for k := range n {
			fmt.Fprintf(&b, format, k, k)
		}
		return b.String()
	}
	waiting := func(n int) string {
		return "tasks: {T: {status: failed}, " + many("t%d: {status: blocked, waits_for: T, depends_on: [t%d]}, ", n) + "}\n"
	}
	for name, of := range map[string]func(n int) (base, other, newer string){
		"lists": func(n int) (base, other, newer string) {
			return "", "progress: {completed: [" + many("%d, x%d, ", 20*n) + "], names: [" + many("%d, y%d, ", 20*n) + "]}\n", "progress: {completed: [a]}"
		},
		"tasks": func(n int) (base, other, newer string) {
			return "", "tasks: {" + many("t%d: {status: complete, n: %d}, ", n) + "}", "tasks: {x: {status: pending}}"
		},
		"waiting tasks": func(n int) (base, other, newer string) {
			return waiting(n), "tasks: {T: {status: complete}}", waiting(n) + "note: x\n"
		},
	} {
		t.Run(name, func(t *testing.T) {
			merge := func(n int) uint64 {
				base, other, newer := of(n)
				a, b, c := record(t, base), record(t, other), record(t, newer)
				var merged *checkpoint.Record
				allocated := gittest.AllocatedBy(t, func() { merged = MergeRecords(a, b, c) })
				require.NotNil(t, merged)
				return allocated
			}
			small, large := merge(500), merge(1_000)
			t.Log(small, large)
			assert.Less(t, large, 3*small)
		})
	}
}
