package dotagent_test

import (
	"testing"

	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/dotagent"
	"git-checkpoint/gitstore/layout/internal/testing/layouttest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A file that lists only the tasks that were begun has open tasks in its other mappings.
func TestTasksNamedElsewhereAreOpen(t *testing.T) {
	for text, left := range map[string][]string{
		`{"plan":"p.md","branch":"b","tasks":{"T1":{"status":"COMPLETE"}},"dependencies":{"T2":["T1"],"T3":["T2"]},"completed_at":null}`:                         {"T2", "T3"},
		`{"plan":"p.md","branch":"b","tasks":{"T1":{"status":"COMPLETE"}},"risk_levels":{"T1":"low","T2":"low"}}`:                                                {"T2"},
		`{"plan":"p.md","branch":"b","tasks":{"T1":{"status":"COMPLETE"}},"risk_levels":{"T2":"low"},"timestamps":{"completed_at":"x"}}`:                         nil,
		`{"plan":"p.md","branch":"b","current_task":3,"tasks":{"task_1_2_bundle":{"status":"COMPLETE"}},"task_id_map":{"task_1":"a","task_2":"b","task_3":"c"}}`: {"task_3"},
	} {
		f, err := layout.Read(dotagent.Name, "state.json", []byte(text))
		require.NoError(t, err)
		r := layouttest.Stored(t, f.Apply(nil))
		assert.ElementsMatch(t, left, tasks.Of(r).Left(), text)
		out, err := layout.Find(dotagent.Name).Of(r)
		require.NoError(t, err)
		assert.JSONEq(t, text, string(out[0].Data))
	}
}
