package checkpoint

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// decoded returns a record from YAML.
func decoded(t *testing.T, text string) *Record {
	t.Helper()
	r, err := Decode([]byte("version: \"1.0\"\n" + text))
	require.NoError(t, err)
	return r
}

func TestAwaiting(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"a text", "progress: {awaiting_approval: design}", []string{"design"}},
		{"a number", "progress: {awaiting_approval: 3}", []string{"3"}},
		{"a list, once each", "progress: {awaiting_approval: [b, a, b]}", []string{"a", "b"}},
		{"required and current", "progress: {current: design, approval_required: [design]}", []string{"design"}},
		{"required, by the workflow's phase", "workflow_state: {current_phase: design}\nprogress: {approval_required: design}", []string{"design"}},
		{"required, another is current", "progress: {current: build, approval_required: [design]}", nil},
		{"required and approved", "progress: {current: design, approval_required: [design], approved: [{phase: design}]}", nil},
		{"pending in spite of an older approval", "progress: {awaiting_approval: design, approved: [{phase: design}]}", []string{"design"}},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, decoded(t, c.text).Awaiting()) })
	}
}

func TestApprove(t *testing.T) {
	r := decoded(t, "progress: {awaiting_approval: [design, ship], approved: [{phase: plan, approved_at: 2026-02-13T00:00:00Z}]}")
	r.Approve("design", time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC))
	assert.Equal(t, []string{"ship"}, r.Awaiting())
	assert.Equal(t, []string{"plan", "design"}, r.Approved())
	data, err := r.Encode()
	require.NoError(t, err)
	again, err := Decode(data)
	require.NoError(t, err)
	assert.Equal(t, []string{"plan", "design"}, again.Approved())
	at, ok := r.Doc().Lookup("progress.approved.1.approved_at")
	require.True(t, ok)
	got, err := ParseTime(at)
	require.NoError(t, err)
	assert.Equal(t, "2026-02-14T12:00:00Z", got.UTC().Format(time.RFC3339))

	r.Approve("ship", time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC))
	_, ok = r.Doc().Lookup("progress.awaiting_approval")
	assert.False(t, ok, "nothing is pending any more")
}

func TestEnterPhaseCountsAttempts(t *testing.T) {
	r := New()
	for _, step := range []struct {
		phase string
		want  int
	}{{"ready", 1}, {"implementing", 1}, {"validation", 1}, {"implementing", 2}, {"validation", 2}, {"docs", 1}, {"implementing", 3}} {
		r.EnterPhase(step.phase)
		assert.Equal(t, step.phase, r.Phase())
		assert.Equal(t, step.want, r.PhaseAttempt(), step.phase)
	}

	r = decoded(t, "workflow_state: {current_phase: docs}\nprogress: {completed: [build]}")
	r.EnterPhase("build")
	assert.Equal(t, 2, r.PhaseAttempt(), "completed once, before anybody counted")

	r = decoded(t, "workflow_state: {current_phase: build, phase_attempt: 3, phase_attempts: {plan: -7}}")
	r.EnterPhase("plan")
	assert.Equal(t, 1, r.PhaseAttempt(), "a count below nothing is none")
	r.EnterPhase("build")
	assert.Equal(t, 4, r.PhaseAttempt())
}

func TestWorkflowFields(t *testing.T) {
	r := New()
	assert.Equal(t, "", r.WorkflowStatus()+r.LastError()+r.PlanPath()+r.PlanDigest())
	assert.True(t, r.TestsPassing())
	assert.False(t, r.WriteInterrupted())
	r.SetPlanDigest("")
	_, ok := r.Doc().Get("workflow")
	assert.False(t, ok, "no digest, no section")

	for _, text := range []string{
		"workflow: {status: failed, last_error: boom, tests_passing: false, plan_path: p.md, interruption_safe: false}",
		"status: failed\nlast_error: boom\ntests_passing: false\nplan_path: p.md\ninterruption_safe: false",
		"status: failed\nerror_state: {last_error: boom}\ntests_passing: false\nworkflow_state: {plan_path: p.md}\nworkflow: {interruption_safe: false}",
	} {
		r := decoded(t, text)
		assert.Equal(t, "failed", r.WorkflowStatus())
		assert.Equal(t, "boom", r.LastError())
		assert.False(t, r.TestsPassing())
		assert.True(t, r.WriteInterrupted())
		assert.Equal(t, "p.md", r.PlanPath())
	}
}

func TestOutputDigest(t *testing.T) {
	r := decoded(t, "agent_outputs: {dev: {build: {output_location: out.txt}}}")
	r.SetOutputDigest("dev", "build", "blob:1")
	assert.Equal(t, []Output{{"dev", "build", "out.txt", "blob:1"}}, r.Outputs())
	r.SetOutputDigest("dev", "build", "")
	r.SetOutputDigest("dev", "other", "blob:1")
	r.SetOutputDigest("nobody", "build", "blob:1")
	assert.Equal(t, []Output{{"dev", "build", "out.txt", ""}}, r.Outputs())
}

func TestSubject(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"the issue's title", "issue_snapshot: {title: a}\nworkflow: {description: b}", "a"},
		{"the workflow's description", "workflow: {description: b}", "b"},
		{"a description beside others", "description: c", "c"},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, decoded(t, c.text).Subject()) })
	}
}

func TestProgressNumbers(t *testing.T) {
	p := decoded(t, "progress: {completed: [1.0, 2, 4b], skipped: [3.00], current: 5.0, total: 6}").Progress()
	assert.Equal(t, []string{"1", "2", "4b"}, p.Completed)
	assert.Equal(t, []string{"3"}, p.Skipped)
	assert.Equal(t, "5", p.Current)
	assert.Equal(t, []string{"4", "5", "6"}, p.Remaining)

	named := decoded(t, "progress: {names: [\"1.0\", \"1.1\"], completed: [\"1.0\"]}").Progress()
	assert.Equal(t, []string{"1.0"}, named.Completed, "a release may be called so")
	assert.Equal(t, []string{"1.1"}, named.Remaining)
}
