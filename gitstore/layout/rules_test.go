package layout_test

import (
	"fmt"
	"strings"
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

// problems modifies a test document with pairs of path and JSON value, and returns the
// problems, warnings with the prefix '?'. The value "-" deletes the key.
func problems(t *testing.T, as codec.Name, name string, changes ...string) []string {
	t.Helper()
	m, err := checkpoint.DecodeDocument(layouttest.Doc(t, name), checkpoint.DefaultLimits)
	require.NoError(t, err)
	for i := 0; i < len(changes); i += 2 {
		var v any
		if changes[i+1] != "-" {
			v = checkpoint.ParseValue(changes[i+1])
		}
		require.NoError(t, m.Assign(changes[i], v))
	}
	data, err := m.MarshalJSON()
	require.NoError(t, err)
	f, err := layout.Read(as, "", data)
	require.NoError(t, err)
	var out []string
	for _, p := range f.Problems {
		if p.Path != "" {
			assert.Positive(t, p.Line)
			assert.Positive(t, p.Column)
		}
		p.Line, p.Column = 0, 0
		if p.Warning {
			out = append(out, "? "+p.String())
		} else {
			out = append(out, p.String())
		}
	}
	return out
}

// Each row lists the problems of a modified document.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		as     codec.Name
		name   string
		change []string
		want   []string
	}{
		{crunch.Name, "crunch.json", nil, []string{`? issue_snapshot: missing`}},
		{crunch.Name, "crunch.json", []string{"checkpoint_id", "-"}, []string{"checkpoint_id: missing (required)"}},
		{crunch.Name, "crunch.json", []string{"created_at", `"soon"`}, []string{`created_at: time "soon": not a time (schema)`}},
		{crunch.Name, "crunch.json", []string{"recovery_info.can_resume", `"yes"`}, []string{"recovery_info.can_resume: want true or false, got text (kind)"}},

		{claude.Name, "claude-1.0.json", nil, nil},
		{claude.Name, "claude-1.0.json", []string{"project_name", "-"}, []string{"project_name: missing, and workflow_state has none either (required)"}},
		{claude.Name, "claude-1.0.json", []string{"project_name", "-", "workflow_state.project_name", `"pay_ment"`}, nil},
		{claude.Name, "claude-1.0.json", []string{"status", `"COMPLETE"`}, []string{`? status: "COMPLETE" is read as completed (enum)`}},
		{claude.Name, "claude-1.0.json", []string{"current_phase", `"3"`}, []string{`? current_phase: "3" is a number written as text (kind)`}},
		{claude.Name, "claude-1.0.json", []string{"current_phase", `"4b"`}, []string{`? current_phase: "4b" is read as a phase's name (kind)`}},
		{claude.Name, "claude-1.0.json", []string{"current_phase", `-1`}, []string{`current_phase: want at least 0, got -1 (range)`}},
		{claude.Name, "claude-1.0.json", []string{"current_phase", `[]`}, []string{`current_phase: want a phase, got a list (kind)`}},
		{claude.Name, "claude-1.0.json", []string{"current_phase", `2`}, []string{`? current_phase: phase 2 is completed already (consistency)`}},
		{claude.Name, "claude-1.0.json", []string{"total_phases", `1.5`}, []string{`total_phases: want an integer, got 1.5 (kind)`}},
		{claude.Name, "claude-1.0.json", []string{"completed_phases", `[1,1,9]`}, []string{
			`? completed_phases[1]: phase 1 is a duplicate (consistency)`, `? completed_phases[1]: phase 9 of 4 (consistency)`,
		}},
		{claude.Name, "claude-1.0.json", []string{"checkpoint_id", `"x"`}, []string{`? checkpoint_id: "x" is not of the form <type>_<project>_<YYYYMMDD>_<HHMMSS> (form)`}},
		{claude.Name, "claude-1.0.json", []string{"created_at", `"2026-01-02T03:04:05"`}, []string{`? created_at: "2026-01-02T03:04:05" has no time zone, taken as UTC (time)`}},
		{claude.Name, "claude-1.0.json", []string{"state_machine", `{"current_state":"x","transition_table":{"plan":"test"}}`}, []string{`state_machine.current_state: "x" is not in the transition table (consistency)`}},
		{claude.Name, "claude-1.0.json", []string{"replan_history", `[{"phase":3},{"phase":3},{"phase":3}]`, "replan_phase_counts", `{"phase_3":1}`}, []string{
			`? replan_history: phase 3 was replanned 3 times, the limit is 2 (consistency)`, `? replan_phase_counts.phase_3: 1, but the history has 3 (consistency)`,
		}},
		{claude.Name, "claude-3.0.json", []string{"workflow_id", "-"}, []string{`workflow_id: missing (required)`}},
		{claude.Name, "claude-iteration.json", []string{"iteration", "7"}, []string{`iteration: 7 is more than max_iterations, 5 (range)`}},
		{claude.Name, "claude-iteration.json", []string{"work_remaining", `{}`}, []string{`work_remaining: want a list, got a mapping (kind)`}},
		{claude.Name, "claude-parallel.json", []string{"status", "-"}, []string{`status: missing (required)`}},
		{claude.Name, "claude-snapshot.json", nil, []string{
			`? timestamp: "2026-01-02T03:04:05" has no time zone, taken as UTC (time)`, `? git_commit: "initial" is no commit's hash (form)`,
		}},

		{recovery.Name, "recovery.json", nil, nil},
		{recovery.Name, "recovery.json", []string{"workflow_id", `""`}, []string{`workflow_id: empty (required)`}},
		{recovery.Name, "recovery.json", []string{"completed_phases", `"1"`}, []string{`completed_phases: want a list, got "1" (kind)`}},
		{recovery.Name, "recovery.json", []string{`phase_metadata."1".status`, `"odd"`}, []string{`phase_metadata.1.status: want one of completed, failed, skipped, in_progress, pending, got "odd" (enum)`}},
		{recovery.Name, "recovery.json", []string{`phase_metadata."1".duration_minutes`, `-3`}, []string{`phase_metadata.1.duration_minutes: want at least 0, got -3 (range)`}},
		{recovery.Name, "recovery.json", []string{`phase_metadata."1".artifacts`, `[1,{}]`}, []string{`phase_metadata.1.artifacts[1]: want text, got a mapping (kind)`}},
		{recovery.Name, "recovery.json", []string{`phase_metadata."1".summary`, fmt.Sprintf("%q", strings.Repeat("w ", 60))}, []string{`? phase_metadata.1.summary: 60 words, want at most 50 (range)`}},
		{recovery.Name, "recovery.json", []string{`phase_metadata."1".summary`, fmt.Sprintf("%q", strings.Repeat("w ", 201))}, []string{`phase_metadata.1.summary: 201 words, want at most 200 (range)`}},
		{recovery.Name, "recovery.json", []string{"current_phase", "2"}, []string{`? current_phase: phase 2 is completed already (consistency)`}},

		{dotagent.Name, "dotagent-phase.json", nil, nil},
		{dotagent.Name, "dotagent-phase.json", []string{"phase_status", "-"}, []string{`phase_status: missing (required)`}},
		{dotagent.Name, "dotagent-phase.json", []string{"current_phase", `"VERIFICATION"`}, []string{`current_phase: VERIFICATION, but 1 phases are completed (order)`}},
		{dotagent.Name, "dotagent-phase.json", []string{"current_phase", `"REQUIREMENTS"`, "phase_status", `"complete"`}, nil},
		{dotagent.Name, "dotagent-phase.json", []string{"completed_phases[0].phase", `"VERIFICATION"`}, []string{`completed_phases[0].phase: VERIFICATION is out of order: REQUIREMENTS comes first (order)`}},
		{dotagent.Name, "dotagent-phase.json", []string{"completed_phases[1]", `{"phase":"REQUIREMENTS"}`, "current_phase", `"IMPLEMENTATION"`}, []string{`completed_phases[1].phase: REQUIREMENTS is a duplicate (order)`}},
		{dotagent.Name, "dotagent-phase.json", []string{"completed_phases", `[1]`}, []string{`completed_phases[0]: want a mapping with phase, completed_at and output, got 1 (kind)`}},
		{dotagent.Name, "dotagent-phase.json", []string{"user_checkpoints[0].approved_at", `"noon"`}, []string{`user_checkpoints[0].approved_at: want a time, got "noon" (time)`}},
		{dotagent.Name, "dotagent-execution.json", []string{"tasks.T1.status", `"lost"`}, []string{`tasks.T1.status: want one of pending, running, complete, failed, blocked, got "lost" (enum)`}},
		{dotagent.Name, "dotagent-execution.json", []string{"tasks.T4", `7`}, []string{`tasks: 1 of its elements are no mappings (kind)`}},

		{pipeline.Name, "pipeline-state.json", nil, nil},
		{pipeline.Name, "pipeline-state.json", []string{`story_state."AB-2"`, `"stage_4_done"`}, []string{`? story_state.AB-2: "stage_4_done" is read as DONE (enum)`, `? stories_remaining: 2, but 3 stories are neither DONE nor PAUSED (consistency)`}},
		{pipeline.Name, "pipeline-state.json", []string{"stories_remaining", `"2"`}, []string{`? stories_remaining: "2" is a number written as text (kind)`}},
		{pipeline.Name, "pipeline-state.json", []string{`crash_count."AB-1"`, "2"}, []string{`? crash_count.AB-1: 2 is above the limit of 1 (range)`}},
		{pipeline.Name, "pipeline-state.json", []string{"depends_on", `{"AB-1":["AB-9"]}`}, []string{`? depends_on.AB-1[0]: "AB-9" is no story of this state (consistency)`}},
		{pipeline.Name, "pipeline-state.json", []string{"complete", `"no"`}, []string{`complete: want true or false, got "no" (kind)`}},
		{pipeline.Name, "pipeline-run.json", []string{"gate.score", "9.1", "gate.verdict", `"PASS"`}, []string{`? gate.score: 9.1 looks like a scale of 0 to 10 (range)`}},
		{pipeline.Name, "pipeline-run.json", []string{"stage", `"stage_7"`}, []string{`stage: want preflight or one of stage_0 to stage_4, got "stage_7" (enum)`}},
	} {
		t.Run(c.name+" "+strings.Join(c.change, " "), func(t *testing.T) {
			got := problems(t, c.as, c.name, c.change...)
			if c.as == crunch.Name {
				got = errorsOf(got) // record warnings have their own tests
				c.want = errorsOf(c.want)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func errorsOf(list []string) []string {
	var out []string
	for _, s := range list {
		if !strings.HasPrefix(s, "? ") {
			out = append(out, s)
		}
	}
	return out
}

// Explain lists the required keys for an empty document.
func TestExplain(t *testing.T) {
	for as, want := range map[codec.Name]string{
		crunch.Name: "checkpoint_id: missing (required)", claude.Name: "workflow_type: missing (required)",
		recovery.Name: "workflow_id: missing (required)", dotagent.Name: "phase_status: missing (required)",
		pipeline.Name: "storyId: missing (required)",
	} {
		err := layout.Find(as).Explain("", []byte("{}"))
		var invalid *codec.InvalidError
		require.ErrorAs(t, err, &invalid, as)
		require.ErrorContains(t, err, want)
	}
	require.ErrorContains(t, layout.Find(claude.Name).Explain("a/x.json", []byte("a: 1\n")), "claude x.json: line 1, column 1: want JSON (syntax)")
	require.ErrorContains(t, layout.Find(claude.Name).Explain("", []byte("{")), "(syntax)")
}
