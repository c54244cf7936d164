package resume

import (
	"bytes"
	"testing"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// record reads a record from YAML.
func record(t *testing.T, yaml string) *checkpoint.Record {
	t.Helper()
	if yaml == "" {
		return checkpoint.New()
	}
	r, err := checkpoint.Decode([]byte(yaml))
	require.NoError(t, err)
	return r
}

func TestProgress(t *testing.T) {
	for _, c := range []struct{ name, yaml, line, from string }{
		{"nothing", "", "no phase recorded", "the checkpoint"},
		{"2 of 5", `progress: {completed: ["1", "2"], total: 5}`, "Phase 2 of 5 completed", "Phase 3"},
		{"one of five phases is completed", `progress: {completed: [1], current: 2, total: 5}`, "Phase 1 of 5 completed", "Phase 2"},
		{"none of 5", `progress: {total: 5}`, "0 of 5 phases completed", "Phase 1"},
		{"all of 2", `progress: {completed: [1, 2], total: 2}`, "Phase 2 of 2 completed", "nothing left to do"},
		{"unknown total", `progress: {completed: [1, 2]}`, "Phase 2 completed", "Phase 3"},
		{"in another order", `progress: {completed: [3, 1]}`, "Phase 3 completed", "Phase 4"},
		{"a gap", `progress: {completed: [1, 3], total: 4}`, "Phase 3 of 4 completed", "Phase 2"},
		{"ten is more than nine", `progress: {completed: [9, 10]}`, "Phase 10 completed", "Phase 11"},
		{"names", `progress: {completed: [plan], names: [plan, build]}`, "Phase 1 of 2 completed (plan)", "Phase build"},
		{"names with a gap", `progress: {completed: [build], names: [plan, build, test]}`, "1 of 3 phases completed (build)", "Phase plan"},
		{"completed, total unknown", "workflow: {status: completed}\nprogress: {completed: [1, 2]}", "Phase 2 completed", "nothing left to do"},
		{"crunch", "workflow_state: {current_phase: implementing}\nexecution_graph: {completed_batches: [1, 2], current_batch: 3}", "Phase implementing, batch 2 completed", "Phase implementing, batch 3, task 1"},
		{"crunch, no batch yet", `workflow_state: {current_phase: ready}`, "Phase ready", "Phase ready"},
		{"batches alone", `execution_graph: {completed_batches: [4], current_batch: 5}`, "batch 4 completed", "batch 5, task 1"},
		{"a point that was given", `recovery_info: {resume_from: here}`, "no phase recorded", "here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := record(t, c.yaml)
			assert.Equal(t, c.line, view.ProgressLine(r))
			assert.Equal(t, c.from, view.ContinueFrom(r, progress.PointOf(r)))
		})
	}
}

func TestPrompt(t *testing.T) {
	cp := &gitstore.Checkpoint{}
	cp.Issue = "42"
	for _, c := range []struct{ yaml, want string }{
		{`workflow: {description: Implement authentication system}`, "Implement authentication system"},
		{`issue_snapshot: {title: Refresh tokens}`, "Refresh tokens"},
		{"", "issue 42"},
	} {
		r := record(t, c.yaml)
		assert.Equal(t, c.want, (&view.Standing{Checkpoint: cp, Record: r}).WorkName())
	}
	r := record(t, "created_at: 2025-10-03T18:45:30Z\nworkflow: {description: \"a\\nb \\e[31m\"}\nprogress: {completed: [1, 2], total: 5}")
	head := promptHead(&view.Standing{Checkpoint: cp, Record: r, Now: r.CreatedAt().Add(12 * time.Minute)}, true)
	assert.Equal(t, `Found existing checkpoint for "a b \x1b[31m"
Created: 2025-10-03 18:45:30 (12 minutes ago)
Progress: Phase 2 of 5 completed

Options:
  (r)esume - Continue from Phase 3
  (s)tart fresh - Delete checkpoint and restart
  (v)iew details - Show checkpoint contents
  (d)elete - Remove checkpoint without starting

`, claudePrompt(head, "Phase 3").text)
	assert.Contains(t, defaultPrompt(head, "Phase 3", "42", 1).text, "(s)tart over - Archive this checkpoint\n")
	assert.Contains(t, defaultPrompt(head, "Phase 3", "42", 2).text, "(d)rop - Drop all 2 checkpoints (asks again)\n")
}

func TestPrintEnv(t *testing.T) {
	var stdout bytes.Buffer
	c := &invoke.Invocation{Out: invoke.Output{Writer: &invoke.Writer{W: &stdout}}}
	cp := &gitstore.Checkpoint{}
	cp.ID = "CP-ready-20260214T143000Z-1f0c9a2b"
	printEnv(c, &resumption{options: &resumeOptions{}, Standing: view.Standing{
		Checkpoint: cp, Record: record(t, "progress: {completed: [plan, \"b 2\"], names: [plan, \"b 2\", \"$(x)\"]}\nrecovery_info: {resume_from: \"it's\\nhere\"}"),
		Verdict: freshness.Verdict{Action: freshness.ProceedWithWarning, At: progress.Point{Phase: "$(x)", Code: "it's\nhere"}},
	}})
	assert.Equal(t, `CHECKPOINT_ACTION=proceed_with_warning
CHECKPOINT_COMPLETE=false
CHECKPOINT_ID=CP-ready-20260214T143000Z-1f0c9a2b
CHECKPOINT_RESUME_FROM='it'\''s
here'
CHECKPOINT_CURRENT_PHASE='$(x)'
CHECKPOINT_COMPLETED_PHASES='plan,b 2'
SKIP_TO_PHASE='$(x)'
CHECKPOINT_NEXT=''
CHECKPOINT_ARTIFACT_PATHS=''
CHECKPOINT_CONTEXT_METADATA=''
`, stdout.String())
}
