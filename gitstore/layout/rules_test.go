package layout

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// problems modifies a test document with pairs of path and JSON value, and returns the
// problems, warnings with the prefix '?'. The value "-" deletes the key.
func problems(t *testing.T, as codec.Name, name string, changes ...string) []string {
	t.Helper()
	m, err := checkpoint.DecodeDocument(doc(t, name), checkpoint.DefaultLimits)
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
	f, err := Read(as, "", data)
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
		{Crunch, "crunch.json", nil, []string{`? issue_snapshot: missing`}},
		{Crunch, "crunch.json", []string{"checkpoint_id", "-"}, []string{"checkpoint_id: missing (required)"}},
		{Crunch, "crunch.json", []string{"created_at", `"soon"`}, []string{`created_at: time "soon": not a time (schema)`}},
		{Crunch, "crunch.json", []string{"recovery_info.can_resume", `"yes"`}, []string{"recovery_info.can_resume: want true or false, got text (kind)"}},

		{Claude, "claude-1.0.json", nil, nil},
		{Claude, "claude-1.0.json", []string{"checkpoint_id", "-"}, []string{"checkpoint_id: missing (required)"}},
		{Claude, "claude-1.0.json", []string{"project_name", "-"}, []string{"project_name: missing, and workflow_state has none either (required)"}},
		{Claude, "claude-1.0.json", []string{"project_name", "-", "workflow_state.project_name", `"pay_ment"`}, nil},
		{Claude, "claude-1.0.json", []string{"status", `"COMPLETE"`}, []string{`? status: "COMPLETE" is read as completed (enum)`}},
		{Claude, "claude-1.0.json", []string{"status", `"purple"`}, []string{`status: want one of in_progress, completed, failed, aborted, halted, got "purple" (enum)`}},
		{Claude, "claude-1.0.json", []string{"current_phase", `"3"`}, []string{`? current_phase: "3" is a number written as text (kind)`}},
		{Claude, "claude-1.0.json", []string{"current_phase", `"4b"`}, []string{`? current_phase: "4b" is read as a phase's name (kind)`}},
		{Claude, "claude-1.0.json", []string{"current_phase", `-1`}, []string{`current_phase: want at least 0, got -1 (range)`}},
		{Claude, "claude-1.0.json", []string{"current_phase", `[]`}, []string{`current_phase: want a phase, got a list (kind)`}},
		{Claude, "claude-1.0.json", []string{"current_phase", `2`}, []string{`? current_phase: phase 2 is completed already (consistency)`}},
		{Claude, "claude-1.0.json", []string{"total_phases", `1.5`}, []string{`total_phases: want an integer, got 1.5 (kind)`}},
		{Claude, "claude-1.0.json", []string{"completed_phases", `[1,1,9]`}, []string{
			`? completed_phases[1]: phase 1 is there twice (consistency)`, `? completed_phases[1]: phase 9 of 4 (consistency)`,
		}},
		{Claude, "claude-1.0.json", []string{"project_name", `"Pay Ment"`}, []string{`? project_name: "Pay Ment" is not written in snake_case: pay_ment (form)`}},
		{Claude, "claude-1.0.json", []string{"checkpoint_id", `"x"`}, []string{`? checkpoint_id: "x" is not of the form <type>_<project>_<YYYYMMDD>_<HHMMSS> (form)`}},
		{Claude, "claude-1.0.json", []string{"created_at", `"2026-01-02T03:04:05"`}, []string{`? created_at: "2026-01-02T03:04:05" has no time zone, taken as UTC (time)`}},
		{Claude, "claude-1.0.json", []string{"workflow_state.plan_path", `"/home/a/plan.md"`}, []string{`? workflow_state.plan_path: "/home/a/plan.md" is a path of one machine (place)`}},
		{Claude, "claude-1.0.json", []string{"state_machine", `{"current_state":"x","transition_table":{"plan":"test"}}`}, []string{`state_machine.current_state: "x" is not in the transition table (consistency)`}},
		{Claude, "claude-1.0.json", []string{"replan_history", `[{"phase":3},{"phase":3},{"phase":3}]`, "replan_phase_counts", `{"phase_3":1}`}, []string{
			`? replan_history: phase 3 was planned anew 3 times, the limit is 2 (consistency)`, `? replan_phase_counts.phase_3: 1, but the history has 3 (consistency)`,
		}},
		{Claude, "claude-3.0.json", []string{"iteration", "6"}, []string{`iteration: 6 is more than max_iterations, 5 (range)`}},
		{Claude, "claude-3.0.json", []string{"workflow_id", "-"}, []string{`workflow_id: missing (required)`}},
		{Claude, "claude-iteration.json", []string{"iteration", "7"}, []string{`iteration: 7 is more than max_iterations, 5 (range)`}},
		{Claude, "claude-iteration.json", []string{"work_remaining", `{}`}, []string{`work_remaining: want a list, got a mapping (kind)`}},
		{Claude, "claude-parallel.json", []string{"status", "-"}, []string{`status: missing (required)`}},
		{Claude, "claude-snapshot.json", nil, []string{
			`? timestamp: "2026-01-02T03:04:05" has no time zone, taken as UTC (time)`, `? git_commit: "initial" is no commit's hash (form)`,
		}},

		{Recovery, "recovery.json", nil, nil},
		{Recovery, "recovery.json", []string{"workflow_id", `""`}, []string{`workflow_id: empty (required)`}},
		{Recovery, "recovery.json", []string{"current_phase", "-"}, []string{`current_phase: missing (required)`}},
		{Recovery, "recovery.json", []string{"completed_phases", "-"}, []string{`completed_phases: missing (required)`}},
		{Recovery, "recovery.json", []string{"completed_phases", `"1"`}, []string{`completed_phases: want a list, got "1" (kind)`}},
		{Recovery, "recovery.json", []string{`phase_metadata."1".status`, `"odd"`}, []string{`phase_metadata.1.status: want one of completed, failed, skipped, in_progress, pending, got "odd" (enum)`}},
		{Recovery, "recovery.json", []string{`phase_metadata."1".duration_minutes`, `-3`}, []string{`phase_metadata.1.duration_minutes: want at least 0, got -3 (range)`}},
		{Recovery, "recovery.json", []string{`phase_metadata."1".artifacts`, `[1,{}]`}, []string{`phase_metadata.1.artifacts[1]: want text, got a mapping (kind)`}},
		{Recovery, "recovery.json", []string{`phase_metadata."1".summary`, fmt.Sprintf("%q", strings.Repeat("w ", 60))}, []string{`? phase_metadata.1.summary: 60 words, want at most 50 (range)`}},
		{Recovery, "recovery.json", []string{`phase_metadata."1".summary`, fmt.Sprintf("%q", strings.Repeat("w ", 201))}, []string{`phase_metadata.1.summary: 201 words, want at most 200 (range)`}},
		{Recovery, "recovery.json", []string{"current_phase", "2"}, []string{`? current_phase: phase 2 is completed already (consistency)`}},

		{Dotagent, "dotagent-phase.json", nil, nil},
		{Dotagent, "dotagent-phase.json", []string{"phase_status", "-"}, []string{`phase_status: missing (required)`}},
		{Dotagent, "dotagent-phase.json", []string{"current_phase", `"DREAM"`}, []string{`current_phase: want one of REQUIREMENTS, ARCHITECTURE, IMPLEMENTATION, VERIFICATION, REFLECTION, got "DREAM" (enum)`}},
		{Dotagent, "dotagent-phase.json", []string{"current_phase", `"VERIFICATION"`}, []string{`current_phase: VERIFICATION, but 1 phases are completed (order)`}},
		{Dotagent, "dotagent-phase.json", []string{"current_phase", `"REQUIREMENTS"`, "phase_status", `"complete"`}, nil},
		{Dotagent, "dotagent-phase.json", []string{"completed_phases[0].phase", `"VERIFICATION"`}, []string{`completed_phases[0].phase: VERIFICATION is out of order: REQUIREMENTS comes first (order)`}},
		{Dotagent, "dotagent-phase.json", []string{"completed_phases[1]", `{"phase":"REQUIREMENTS"}`, "current_phase", `"IMPLEMENTATION"`}, []string{`completed_phases[1].phase: REQUIREMENTS is there twice (order)`}},
		{Dotagent, "dotagent-phase.json", []string{"completed_phases", `[1]`}, []string{`completed_phases[0]: want a mapping with phase, completed_at and output, got 1 (kind)`}},
		{Dotagent, "dotagent-phase.json", []string{"interruption_safe", `false`}, []string{`? interruption_safe: false: a write was interrupted (consistency)`}},
		{Dotagent, "dotagent-phase.json", []string{"user_checkpoints[0].approved_at", `"noon"`}, []string{`user_checkpoints[0].approved_at: want a time, got "noon" (time)`}},
		{Dotagent, "dotagent-execution.json", []string{"tasks.T1.status", `"lost"`}, []string{`tasks.T1.status: want one of pending, running, complete, failed, blocked, got "lost" (enum)`}},
		{Dotagent, "dotagent-execution.json", []string{"tasks.T4", `7`}, []string{`tasks: 1 of its elements are no mappings (kind)`}},

		{Pipeline, "pipeline-state.json", nil, nil},
		{Pipeline, "pipeline-state.json", []string{`story_state."AB-1"`, `"STAGE_9"`}, []string{`story_state.AB-1: want one of STAGE_0, STAGE_1, STAGE_2, STAGE_3, DONE, PAUSED, got "STAGE_9" (enum)`}},
		{Pipeline, "pipeline-state.json", []string{`story_state."AB-2"`, `"stage_4_done"`}, []string{`? story_state.AB-2: "stage_4_done" is read as DONE (enum)`, `? stories_remaining: 2, but 3 stories are neither DONE nor PAUSED (consistency)`}},
		{Pipeline, "pipeline-state.json", []string{"active_workers", "3"}, []string{`? active_workers: 3, but worker_map has 1 (consistency)`}},
		{Pipeline, "pipeline-state.json", []string{"stories_remaining", `"2"`}, []string{`? stories_remaining: "2" is a number written as text (kind)`}},
		{Pipeline, "pipeline-state.json", []string{`crash_count."AB-1"`, "2"}, []string{`? crash_count.AB-1: 2 is above the limit of 1 (range)`}},
		{Pipeline, "pipeline-state.json", []string{"depends_on", `{"AB-1":["AB-3"],"AB-3":["AB-1"]}`}, []string{`depends_on.AB-1: a cycle: AB-1 -> AB-3 -> AB-1 (consistency)`}},
		{Pipeline, "pipeline-state.json", []string{"depends_on", `{"AB-1":["AB-9"]}`}, []string{`? depends_on.AB-1[0]: "AB-9" is no story of this state (consistency)`}},
		{Pipeline, "pipeline-state.json", []string{"stage_timestamps", `{"AB-1":{"stage_0_start":"2026-01-02","stage_0_end":"2026-01-01T00:00:00Z"}}`}, []string{
			`? stage_timestamps.AB-1.stage_0_start: "2026-01-02" has no time zone, taken as UTC (time)`, `? stage_timestamps.AB-1.stage_0_end: stage_0 ends before it begins (time)`,
		}},
		{Pipeline, "pipeline-state.json", []string{"storage_mode", `"cloud"`}, []string{`? storage_mode: "cloud" is none of file, linear (enum)`}},
		{Pipeline, "pipeline-state.json", []string{"complete", `"no"`}, []string{`complete: want true or false, got "no" (kind)`}},
		{Pipeline, "pipeline-run.json", []string{"gate.score", "9.1", "gate.verdict", `"PASS"`}, []string{`? gate.score: 9.1 looks like a scale of 0 to 10 (range)`}},
		{Pipeline, "pipeline-run.json", []string{"stage", `"stage_7"`}, []string{`stage: want preflight or one of stage_0 to stage_4, got "stage_7" (enum)`}},
	} {
		t.Run(c.name+" "+strings.Join(c.change, " "), func(t *testing.T) {
			got := problems(t, c.as, c.name, c.change...)
			if c.as == Crunch {
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

// stories are valid documents, one per stage.
var stories = []string{
	`{"storyId":"S","stage":0,"agentId":"a","tasksCompleted":[],"tasksRemaining":["T1"],"lastAction":"l","timestamp":"2026-01-01T00:00:00Z","planScore":4}`,
	`{"storyId":"S","stage":1,"agentId":"a","tasksCompleted":[],"tasksRemaining":[],"lastAction":"l","timestamp":"2026-01-01T00:00:00Z","readiness":7,"verdict":"GO"}`,
	`{"storyId":"S","stage":2,"agentId":"a","tasksCompleted":["T1"],"tasksRemaining":["T2"],"lastAction":"l","timestamp":"2026-01-01T00:00:00Z"}`,
	`{"storyId":"S","stage":3,"agentId":"a","tasksCompleted":["T1","T2"],"tasksRemaining":[],"lastAction":"l","timestamp":"2026-01-01T00:00:00Z","verdict":"PASS","qualityScore":92}`,
}

// Each stage is tested with missing, invalid and foreign fields.
func TestStages(t *testing.T) {
	for stage, text := range stories {
		common := []string{
			"storyId", "-", "storyId: missing (required)",
			"storyId", `""`, "storyId: empty (required)",
			"stage", "-", "stage: missing (required)",
			"stage", "9", "stage: want 0 to 3, got 9 (range)",
			"stage", "4", "stage: want 0 to 3, got 4 (range)",
			"stage", "-1", "stage: want 0 to 3, got -1 (range)",
			"stage", `"third"`, `stage: want an integer from 0 to 3, got "third" (kind)`,
			"stage", fmt.Sprintf(`"%d"`, stage), fmt.Sprintf(`? stage: "%d" is read as %d (kind)`, stage, stage),
			"stage", fmt.Sprintf(`"STAGE_%d"`, stage), fmt.Sprintf(`? stage: "STAGE_%d" is read as %d (kind)`, stage, stage),
			"stage", fmt.Sprintf(`"stage_%d_work"`, stage), fmt.Sprintf(`? stage: "stage_%d_work" is read as %d (kind)`, stage, stage),
			"agentId", "-", "? agentId: missing: a document of 4.0.0 (required)",
			"agentId", "null", "agentId: empty (required)",
			"tasksCompleted", "-", "tasksCompleted: missing (required)",
			"tasksRemaining", `"T1"`, `tasksRemaining: want a list, got "T1" (kind)`,
			"lastAction", "-", "lastAction: missing (required)",
			"lastAction", `""`, "lastAction: empty (required)",
			"timestamp", "-", "timestamp: missing (required)",
			"timestamp", `"late"`, `timestamp: want a time, got "late" (time)`,
		}
		own := [][]string{
			{
				"planScore", "-", "planScore: missing (required)",
				"planScore", "4.5", "planScore: want 0 to 4, got 4.5 (range)",
				"planScore", "-1", "planScore: want 0 to 4, got -1 (range)",
				"planScore", `"3"`, `? planScore: "3" is a number written as text (kind)`,
				"planScore", `"high"`, `planScore: want a number, got "high" (kind)`,
				"tasksCompleted", `["T9"]`, "tasksCompleted: 1 tasks, want none in stage 0 (consistency)",
				"tasksRemaining", `[]`, "tasksRemaining: empty, want the tasks that stage 0 created (required)",
				"tasksRemaining", `["T1","T1"]`, `? tasksRemaining[1]: "T1" is there twice (consistency)`,
				"verdict", `"GO"`, "verdict: stage 0 has none (place)",
				"qualityScore", "50", "? qualityScore: stage 0 has none (place)",
			},
			{
				"readiness", "-", "readiness: missing (required)",
				"readiness", "0", "readiness: want 1 to 10, got 0 (range)",
				"readiness", "11", "readiness: want 1 to 10, got 11 (range)",
				"verdict", "-", "verdict: missing (required)",
				"verdict", `"PASS"`, `verdict: want one of GO, NO-GO, got "PASS" (enum)`,
				"verdict", `"NO-GO"`, "reason: missing (required)",
				"reason", `"why"`, "? reason: there is one, but the verdict is not NO-GO (consistency)",
				"tasksRemaining", `["T1"]`, "tasksRemaining: 1 tasks, want none in stage 1 (consistency)",
				"planScore", "3", "? planScore: stage 1 has none (place)",
			},
			{
				"tasksRemaining", `["T1"]`, `tasksRemaining[0]: "T1" is completed too (consistency)`,
				"planScore", "3", "? planScore: stage 2 has none (place)",
				"readiness", "3", "? readiness: stage 2 has none (place)",
				"verdict", `"PASS"`, "verdict: stage 2 has none (place)",
				"issues", `"x"`, "? issues: stage 2 has none (place)",
			},
			{
				"verdict", "-", "verdict: missing (required)",
				"verdict", `"GO"`, `verdict: want one of PASS, CONCERNS, WAIVED, FAIL, got "GO" (enum)`,
				"verdict", `"FAIL"`, "issues: missing (required)",
				"qualityScore", "-", "qualityScore: missing (required)",
				"qualityScore", "101", "qualityScore: want 0 to 100, got 101 (range)",
				"qualityScore", "-1", "qualityScore: want 0 to 100, got -1 (range)",
				"qualityScore", "9.1", "? qualityScore: 9.1 looks like a scale of 0 to 10 (range)",
				"tasksRemaining", `["T3"]`, "tasksRemaining: 1 tasks, want none in stage 3 (consistency)",
				"issues", `"x"`, "? issues: there are some, but the verdict is not FAIL (consistency)",
				"readiness", "3", "? readiness: stage 3 has none (place)",
			},
		}
		assert.Empty(t, storyProblems(t, text, "", ""), "stage %d", stage)
		cases := append(common, own[stage]...)
		for i := 0; i < len(cases); i += 3 {
			got := storyProblems(t, text, cases[i], cases[i+1])
			assert.Contains(t, got, cases[i+2], "stage %d, %s = %s", stage, cases[i], cases[i+1])
		}
	}
	whole := `{"storyId":"S","stage":3,"agentId":"a","tasksCompleted":["T"],"tasksRemaining":[],"lastAction":"l","timestamp":"2026-01-01T00:00:00Z","verdict":"FAIL","qualityScore":20,"issues":["a","b"]}`
	assert.Equal(t, []string{"? issues: a list, want text (kind)"}, storyProblems(t, whole, "", ""))
}

// Each stage is tested with all verdicts.
func TestVerdicts(t *testing.T) {
	none, other := []string{"verdict: stage %d has none (place)"}, "verdict: want one of %s, got %q (enum)"
	for stage, text := range stories {
		for _, verdict := range []string{"GO", "NO-GO", "PASS", "CONCERNS", "WAIVED", "FAIL", "go", "MAYBE"} {
			want := map[int][]string{}
			switch {
			case stage == 0 || stage == 2:
				want[stage] = []string{fmt.Sprintf(none[0], stage)}
			case stage == 1 && verdict == "NO-GO":
				want[1] = []string{"reason: missing (required)"}
			case stage == 1 && verdict != "GO":
				want[1] = []string{fmt.Sprintf(other, "GO, NO-GO", verdict)}
			case stage == 3 && verdict == "FAIL":
				want[3] = []string{"issues: missing (required)"}
			case stage == 3 && !slices.Contains([]string{"PASS", "CONCERNS", "WAIVED"}, verdict):
				want[3] = []string{fmt.Sprintf(other, "PASS, CONCERNS, WAIVED, FAIL", verdict)}
			}
			assert.Equal(t, want[stage], storyProblems(t, text, "verdict", fmt.Sprintf("%q", verdict)), "stage %d, %s", stage, verdict)
		}
	}
}

// Each required field is tested as missing and empty. Task lists may be empty.
func TestRequiredFields(t *testing.T) {
	base := []string{"storyId", "stage", "timestamp", "lastAction"}
	own := [][]string{{"planScore"}, {"readiness", "verdict"}, {}, {"verdict", "qualityScore"}}
	for stage, text := range stories {
		for _, key := range slices.Concat(base, own[stage], []string{"tasksCompleted", "tasksRemaining"}) {
			assert.Contains(t, storyProblems(t, text, key, "-"), key+": missing (required)", "stage %d", stage)
		}
		for _, key := range slices.Concat(base, own[stage], []string{"agentId"}) {
			assert.Contains(t, storyProblems(t, text, key, "null"), key+": empty (required)", "stage %d", stage)
		}
	}
	for _, key := range []string{"tasksCompleted", "tasksRemaining"} {
		assert.Empty(t, storyProblems(t, stories[2], key, "[]"), "%s may be empty", key)
	}
}

func storyProblems(t *testing.T, text, path, value string) []string {
	t.Helper()
	m, err := checkpoint.DecodeDocument([]byte(text), checkpoint.DefaultLimits)
	require.NoError(t, err)
	switch value {
	case "":
	case "-":
		m.Delete(path)
	default:
		m.Set(path, checkpoint.ParseValue(value))
	}
	data, err := m.MarshalJSON()
	require.NoError(t, err)
	f, err := Read(Pipeline, "checkpoint-S.json", data)
	require.NoError(t, err)
	var out []string
	for _, p := range f.Problems {
		mark := ""
		if p.Warning {
			mark = "? "
		}
		p.Line = 0
		if p.Rule == "name" {
			continue
		}
		out = append(out, mark+p.String())
	}
	return out
}

// A mismatch between file name and id is a warning.
func TestFileNameMismatchIsWarned(t *testing.T) {
	for name, want := range map[string]int{"checkpoint-S.json": 0, "checkpoint-T.json": 1, "": 0, "latest.json": 0} {
		f, err := Read(Pipeline, name, []byte(stories[2]))
		require.NoError(t, err)
		assert.Len(t, f.Problems, want, name)
		require.NoError(t, f.Err(false))
		if want > 0 {
			require.EqualError(t, f.Err(true), `pipeline checkpoint-T.json: the file is called "checkpoint-T", its id is "checkpoint-S" (name)`)
		}
	}
}

// Resume points of a story.
func TestStoryPoint(t *testing.T) {
	for _, c := range []struct{ change, want string }{
		{`"stage":0,"tasksRemaining":["T1"]`, "stage_1"},
		{`"stage":1,"verdict":"GO"`, "stage_2"},
		{`"stage":1,"verdict":"NO-GO"`, "stage_1"},
		{`"stage":2,"tasksRemaining":["T2","T3"]`, "T2"},
		{`"stage":2,"tasksRemaining":[]`, "stage_3"},
		{`"stage":3,"verdict":"FAIL"`, "stage_2"},
		{`"stage":3,"verdict":"PASS"`, "DONE"},
		{`"stage":null`, ""},
	} {
		m, err := checkpoint.DecodeDocument([]byte("{"+c.change+"}"), checkpoint.DefaultLimits)
		require.NoError(t, err)
		r := checkpoint.New()
		applyStory(m, r)
		assert.Equal(t, c.want, r.ResumeFrom(), c.change)
	}
}

// Status values of all systems.
func TestStatusWords(t *testing.T) {
	for word, want := range map[string]string{
		"complete": workflow.Completed, "DONE": workflow.Completed, "In Progress": workflow.InProgress, "not-started": workflow.Pending, "active": workflow.InProgress,
		"PAUSED": workflow.Halted, "stage_4_done": workflow.Completed, "success": workflow.Completed, "error": workflow.Failed, "cancelled": workflow.Aborted, "idle": workflow.Pending,
		"skip": workflow.Skipped, "purple": "", "": "",
	} {
		assert.Equal(t, want, workflow.StatusOf(word), word)
	}
}

// Migration from each older version gives the same document.
func TestMigration(t *testing.T) {
	newest := read(t, "claude-1.0.json").Doc
	assert.Equal(t, "2.1", values.Text(newest, "schema_version"))
	assert.Equal(t, "implement", values.Text(newest, "state_machine.current_state"))
	assert.Equal(t, []string{"research", "plan"}, values.Texts(values.Get(newest, "state_machine.completed_states")))
	assert.Equal(t, "test-all", values.Text(newest, "state_machine.workflow_config.command"))
	steps := []func(*checkpoint.Map){claudeTo11, claudeTo12, claudeTo13, claudeTo20, claudeTo21}
	for n := range len(steps) + 1 {
		m, err := checkpoint.DecodeDocument(doc(t, "claude-1.0.json"), checkpoint.DefaultLimits)
		require.NoError(t, err)
		m.Set("schema_version", []string{"1.0", "1.1", "1.2", "1.3", "2.1", "2.1"}[n]) // also 2.1 after an interrupted migration from 2.0
		for _, step := range steps[:n] {
			step(m)
		}
		assert.Equal(t, jsonOf(t, newest), jsonOf(t, migrateClaude(m)), "%d steps", n)
	}
	assert.Equal(t, []string{"initialize", "research", "plan", "implement", "test", "debug", "document", "complete", "", ""},
		[]string{claudeState("0"), claudeState("1"), claudeState("2"), claudeState("3"), claudeState("4"), claudeState("5"), claudeState("6"), claudeState("7"), claudeState("8"), claudeState("x")})
}

// Real documents migrate to the same result as with the system's own migration.
func TestRealMigration(t *testing.T) {
	docs := map[string]*checkpoint.Map{}
	for _, f := range realFiles(t) {
		if file := imported(f); file != nil && file.Layout == Claude && file.Kind == "checkpoint" {
			docs[f.name] = file.Doc
		}
	}
	want := docs["001-002-benbrastmckie/gen__v2.0-to-2.1__migrated.json"]
	require.NotNil(t, want)
	for _, name := range []string{"gen__v1.0-to-1.1__migrated.json", "gen__v1.1-to-1.2__migrated.json", "gen__v1.2-to-1.3__migrated.json"} {
		got := docs["001-002-benbrastmckie/"+name]
		require.NotNil(t, got, name)
		assert.Equal(t, jsonOf(t, want), jsonOf(t, got), name)
	}
}

// Explain lists the required keys for an empty document.
func TestExplain(t *testing.T) {
	for as, want := range map[codec.Name]string{
		Crunch: "checkpoint_id: missing (required)", Claude: "workflow_type: missing (required)",
		Recovery: "workflow_id: missing (required)", Dotagent: "phase_status: missing (required)",
		Pipeline: "storyId: missing (required)",
	} {
		err := Explain(as, "", []byte("{}"))
		var invalid *codec.InvalidError
		require.ErrorAs(t, err, &invalid, as)
		require.ErrorContains(t, err, want)
	}
	require.ErrorContains(t, Explain(Claude, "a/x.json", []byte("a: 1\n")), "claude x.json: line 1, column 1: want JSON (syntax)")
	require.ErrorContains(t, Explain(Claude, "", []byte("{")), "(syntax)")
}
