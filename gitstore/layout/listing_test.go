package layout_test

import (
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/claude"
	"git-checkpoint/gitstore/layout/crunch"
	"git-checkpoint/gitstore/layout/dotagent"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/testing/layouttest"
	"git-checkpoint/gitstore/layout/pipeline"
	"git-checkpoint/gitstore/layout/recovery"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// chainOf returns a chain with one checkpoint, built from test documents.
func chainOf(t *testing.T, change func(r *checkpoint.Record), names ...string) []*checkpoint.Record {
	t.Helper()
	var r *checkpoint.Record
	for _, name := range names {
		r = layouttest.Read(t, name).Apply(r)
	}
	if change != nil {
		change(r)
	}
	return []*checkpoint.Record{layouttest.Stored(t, r)}
}

func TestListing(t *testing.T) {
	failing := func(r *checkpoint.Record) { _ = r.Doc().Assign("workflow.status", "failed") }
	for _, c := range []struct {
		name   string
		as     codec.Name
		chains [][]*checkpoint.Record
		failed [][]*checkpoint.Record
		want   string
	}{
		{"claude", claude.Name, [][]*checkpoint.Record{
			chainOf(t, nil, "claude-1.0.json"), chainOf(t, failing, "claude-1.0.json"), chainOf(t, nil, "claude-parallel.json"),
			chainOf(t, nil, "claude-supervisor.json"),
		}, [][]*checkpoint.Record{chainOf(t, nil, "claude-1.0.json")}, "Active Checkpoints:\n" +
			"  test-all_pay_ment_20260102_030405.json in_progress phase 3 of 4 wave 2/2\n" +
			"  parallel_merge_plan_7_20260102_030405.json (parallel) in_progress\n" +
			"  sup_research_7.json (supervisor) in_progress workers 2\n" +
			"Failed Checkpoints:\n" +
			"  failed/test-all_pay_ment_20260102_030405.json failed phase 3 of 4 wave 2/2\n" +
			"  failed/test-all_pay_ment_20260102_030405.json in_progress phase 3 of 4 wave 2/2\n"},
		{"recovery", recovery.Name, [][]*checkpoint.Record{chainOf(t, nil, "recovery.json")}, nil, "implement_9_pay.json phase 3\n"},
		{
			"dotagent", dotagent.Name,
			[][]*checkpoint.Record{chainOf(t, nil, "dotagent-phase.json", "dotagent-execution.json")},
			nil,
			"phase.json in_progress phase ARCHITECTURE of 5\nexecution.json in_progress tasks 1/3\n",
		},
		{
			"pipeline", pipeline.Name,
			[][]*checkpoint.Record{chainOf(t, nil, "pipeline-story.json"), chainOf(t, nil, "pipeline-state.json")},
			nil,
			"checkpoint-AB-1.json in_progress phase stage_2 of 4 tasks 1/3\nstate.json in_progress stories 2\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := layout.Listing(c.as, c.chains, c.failed)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
	_, err := layout.Listing(pipeline.Name, [][]*checkpoint.Record{chainOf(t, nil, "recovery.json")}, nil)
	require.ErrorContains(t, err, "the record has no stage")

	got, err := layout.Listing(crunch.Name, [][]*checkpoint.Record{chainOf(t, nil, "crunch.yaml"), chainOf(t, nil, "crunch.json")}, nil)
	require.NoError(t, err)
	assert.Equal(t, "issue_number: 7\ncheckpoints:\n  - checkpoint_id: CP-enrich-20260105-9f3c\n", got[:len("issue_number: 7\ncheckpoints:\n  - checkpoint_id: CP-enrich-20260105-9f3c\n")])
	assert.Contains(t, got, "total_checkpoints: 1\n---\nissue_number: PROJ-7\n")
}
