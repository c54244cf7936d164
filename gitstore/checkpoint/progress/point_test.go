package progress_test

import (
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPointOf(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, phase, code string }{
		{"batch", "execution_graph: {current_batch: 3}", "", "batch_3_task_1"},
		{
			"open task of the batch",
			"execution_graph: {current_batch: 2, node_states: {a: {status: complete}, b: {status: running}}, batches: [{batch_id: 2, tasks: [a, b]}]}",
			"", "batch_2_task_2",
		},
		{"phase", "progress: {completed: ['1'], total: 3}", "2", "phase_2"},
		{"named phase", "progress: {completed: [plan], names: [plan, build]}", "build", "phase_build"},
		{"task list", "tasks: [{id: a, status: done}, {id: b, status: pending}]", "", "b"},
		{"tasks by id", "tasks: {a: {status: complete}, b: {}}", "", "b"},
		{"node", "execution_graph: {node_states: {a: {status: complete}, b: {status: queued}}}", "", "b"},
		{"workflow's phase", "workflow_state: {current_phase: docs}", "docs", "phase_docs"},
		{"all done", "progress: {completed: ['1'], total: 1}", "", ""},
		{"completed by its status", "workflow: {status: completed}\nprogress: {completed: ['1'], total: 3}", "", ""},
		{"no total", "progress: {completed: ['1', '2', '3'], current: '4'}", "4", "phase_4"},
		{"no total, the last is current", "progress: {completed: ['1', '3'], current: '3'}\nworkflow_state: {current_phase: '3'}", "4", "phase_4"},
		{"no total, a name", "progress: {completed: [plan], current: plan}", "", ""},
		{"recorded", "progress: {completed: ['1'], total: 3}\nrecovery_info: {resume_from: review}", "2", "review"},
		{"recorded phase", "progress: {completed: ['1'], total: 3}\nrecovery_info: {resume_from: phase_3}", "3", "phase_3"},
		{"recorded, but over", "progress: {completed: ['1'], total: 3}\nrecovery_info: {resume_from: phase_1}", "2", "phase_2"},
		{"recorded batch, but over", "execution_graph: {completed_batches: [2], current_batch: 3}\nrecovery_info: {resume_from: batch_2_task_1}", "", "batch_3_task_1"},
		{"recorded task, but over", "tasks: {a: {status: complete}, b: {}}\nrecovery_info: {resume_from: a}", "", "b"},
		{"stage", "progress: {completed: [stage_0], names: [stage_0, stage_1]}", "stage_1", "stage_1"},
		{"stage with a prefix", "progress: {names: [stage_0, stage_1]}\nrecovery_info: {resume_from: phase_stage_1}", "stage_1", "stage_1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := checkpoint.Decode([]byte(tt.in))
			require.NoError(t, err)
			at := progress.PointOf(r)
			assert.Equal(t, tt.phase, at.Phase)
			assert.Equal(t, tt.code, at.Code)
			assert.Equal(t, tt.phase+tt.code == "" && tt.name != "no total, a name", at.Complete)
		})
	}
}
