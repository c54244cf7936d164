package layout_test

import (
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/claude"
	"git-checkpoint/gitstore/layout/crunch"
	"git-checkpoint/gitstore/layout/dotagent"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/testing/layouttest"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/pipeline"
	"git-checkpoint/gitstore/layout/recovery"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each test document is detected by shape and converted to the expected record.
func TestDocuments(t *testing.T) {
	for _, c := range []struct {
		name, kind, version, key, id string
		trigger                      checkpoint.Trigger
		phase, resume                string
		done                         []string
	}{
		{"crunch.yaml", "crunch checkpoint", "1.0", "7", "CP-enrich-20260105-9f3c", checkpoint.Manual, "enrich", "batch_2_task_1", nil},
		{"crunch.json", "crunch checkpoint", "1.0", "PROJ-7", "CP-ready-20260105-00aa", checkpoint.Manual, "ready", "phase_ready", nil},
		{"claude-1.0.json", "claude checkpoint", "1.0", "test-all_pay_ment", "test-all_pay_ment_20260102_030405", checkpoint.PhaseTransition, "3", "phase_3", []string{"1", "2"}},
		{"claude-3.0.json", "claude workflow", "3.0", "implement_pay", "implement_pay_20260102_030405", checkpoint.PhaseTransition, "2", "phase_2", []string{"1"}},
		{"claude-iteration.json", "claude iteration", "2.1", "build_77", "", checkpoint.PhaseTransition, "3", "phase_3", nil},
		{"claude-parallel.json", "claude parallel", "", "parallel_merge_plan_7", "parallel_merge_plan_7_20260102_030405", checkpoint.BeforeParallel, "", "", nil},
		{"claude-supervisor.json", "claude supervisor", "", "sup_research_7", "claude-supervisor", checkpoint.PhaseTransition, "", "", nil},
		{"claude-snapshot.json", "claude snapshot", "", "", "cp-two", checkpoint.PhaseTransition, "two", "phase_two", nil},
		{"recovery.json", "recovery workflow", "", "implement_9_pay", "", checkpoint.PhaseTransition, "3", "phase_3", []string{"1", "2"}},
		{"dotagent-phase.json", "dotagent phase", "", "wf-9", "", checkpoint.PhaseTransition, "ARCHITECTURE", "phase_ARCHITECTURE", []string{"REQUIREMENTS"}},
		{"dotagent-execution.json", "dotagent execution", "", "wf-9", "", checkpoint.TaskUpdate, "", "T2", nil},
		{"pipeline-story.json", "pipeline story", "1.0.0", "AB-1", "", checkpoint.TaskUpdate, "stage_2", "AB-12", []string{"stage_0", "stage_1"}},
		{"pipeline-state.json", "pipeline state", "1.0.0", "pipeline-2026-01-02", "", checkpoint.Interval, "", "AB-1", nil},
		{"pipeline-run.json", "pipeline run", "run", "AB-1", "", checkpoint.PhaseTransition, "stage_2", "stage_2", []string{"stage_0", "stage_1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := layouttest.Read(t, c.name)
			assert.Equal(t, c.kind, string(f.Layout)+" "+f.Kind)
			assert.Equal(t, c.version, f.Version)
			assert.Equal(t, c.key, f.Key())
			assert.Equal(t, c.trigger, f.Trigger())
			r := layouttest.Stored(t, f.Apply(nil))
			assert.Equal(t, c.phase, r.Phase())
			assert.Equal(t, c.done, r.Progress().Completed)
			resume := r.ResumeFrom()
			if resume == "" {
				resume = progress.DefaultCode(r)
			}
			assert.Equal(t, c.resume, resume)
			if c.id != "" {
				assert.Equal(t, checkpoint.ID(c.id), f.ID())
			}
			out, err := layout.Find(f.Layout).Of(r)
			require.NoError(t, err)
			require.Len(t, out, 1)
			assert.Equal(t, string(layouttest.Doc(t, c.name)), string(out[0].Data), "unchanged, and so are the bytes")
		})
	}
}

// Of changes only values that differ from the record. Unknown keys keep their positions.
func TestOfChangesOnlyNewValues(t *testing.T) {
	finish := func(r *checkpoint.Record, current string, done ...string) {
		p := r.Progress()
		p.Current, p.Completed, p.Remaining = current, done, nil
		r.SetProgress(p)
	}
	for _, c := range []struct {
		name   string
		change func(r *checkpoint.Record)
		want   map[string]string // paths and JSON values
	}{
		{"claude-1.0.json", func(r *checkpoint.Record) { finish(r, "4", "1", "2", "3") }, map[string]string{
			"current_phase": "4", "completed_phases": "[1,2,3]", "workflow_state.current_phase": "4",
			"workflow_state.completed_phases": "[1,2,3]", "updated_at": `"2026-03-01T00:00:00Z"`,
		}},
		{"claude-1.0.json", func(r *checkpoint.Record) {
			_ = r.Doc().Assign("workflow.status", "failed")
			_ = r.Doc().Assign("workflow.last_error", "tests fail")
		}, map[string]string{"status": `"failed"`, "last_error": `"tests fail"`, "updated_at": `"2026-03-01T00:00:00Z"`}},
		{"claude-3.0.json", func(r *checkpoint.Record) { finish(r, "3", "1", "2") }, map[string]string{
			"current_phase": "3", "workflow_data.completed_phases": "[1,2]", "timestamp": `"2026-03-01T00:00:00Z"`,
		}},
		{"recovery.json", func(r *checkpoint.Record) { finish(r, "4", "1", "2", "3") }, map[string]string{
			"current_phase": "4", "completed_phases": "[1,2,3]",
			"phase_metadata.3": `{"status":"completed","artifacts":[],"timestamp":"2026-03-01T00:00:00Z"}`,
		}},
		{"dotagent-phase.json", func(r *checkpoint.Record) { finish(r, "IMPLEMENTATION", "REQUIREMENTS", "ARCHITECTURE") }, map[string]string{
			"current_phase":       `"IMPLEMENTATION"`,
			"phase_status":        `"pending"`, // phase not started
			"completed_phases[1]": `{"phase":"ARCHITECTURE","completed_at":"2026-03-01T00:00:00Z"}`,
			"last_updated":        `"2026-03-01T00:00:00Z"`,
		}},
		{"dotagent-execution.json", func(r *checkpoint.Record) { _ = r.Doc().Assign("tasks.T2.status", "complete") }, map[string]string{
			"tasks.T2.status": `"complete"`,
		}},
		{"pipeline-story.json", func(r *checkpoint.Record) { _ = r.Doc().Assign(`tasks."AB-12".status`, "complete") }, map[string]string{
			"tasksCompleted": `["AB-11","AB-12"]`, "tasksRemaining": `["AB-13"]`, "timestamp": `"2026-03-01T00:00:00Z"`,
		}},
		{"pipeline-state.json", func(r *checkpoint.Record) { _ = r.Doc().Assign(`pipeline.crash_count."AB-1"`, checkpoint.Int(1)) }, map[string]string{
			`crash_count."AB-1"`: "1", "last_check": `"2026-03-01T00:00:00Z"`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := layouttest.Read(t, c.name)
			r := layouttest.Stored(t, f.Apply(nil))
			r.SetCreatedAt(layouttest.MustTime(t, "2026-03-01T00:00:00Z"))
			c.change(r)
			out, err := layout.Find(f.Layout).Of(layouttest.Stored(t, r))
			require.NoError(t, err)
			got, err := checkpoint.DecodeDocument(out[0].Data, checkpoint.DefaultLimits)
			require.NoError(t, err)
			want := f.Doc.Clone()
			for path, value := range c.want {
				require.NoError(t, want.Assign(path, checkpoint.ParseValue(value)))
			}
			assert.True(t, checkpoint.Equal(want, got), "want %v\n got %s", jsonOf(t, want), out[0].Data)
		})
	}
}

func jsonOf(t testing.TB, m *checkpoint.Map) string {
	t.Helper()
	data, err := m.MarshalJSON()
	require.NoError(t, err)
	return string(data)
}

// A record can hold two files of one workflow.
func TestTwoFiles(t *testing.T) {
	r := layouttest.Read(t, "dotagent-phase.json").Apply(nil)
	r = layouttest.Stored(t, layouttest.Read(t, "dotagent-execution.json").Apply(r))
	assert.Equal(t, "ARCHITECTURE", r.Phase())
	out, err := layout.Find(dotagent.Name).FilesOf([]*checkpoint.Record{r})
	require.NoError(t, err)
	require.Len(t, out, 2)
	assert.Equal(t, []string{"phase.json", "execution.json"}, []string{out[0].Path, out[1].Path})
	assert.Equal(t, string(layouttest.Doc(t, "dotagent-execution.json")), string(out[1].Data))

	r = layouttest.Read(t, "recovery.json").Apply(r)
	_, err = layout.Find(recovery.Name).Of(r)
	require.NoError(t, err)
	files, _ := r.Doc().Lookup("layout.files")
	assert.Equal(t, []string{"workflow"}, files.(*checkpoint.Map).Keys(), "files of another layout go")
}

// New documents from a record satisfy the rules of their layout.
func TestNewDocumentsAreValid(t *testing.T) {
	r := checkpoint.New()
	r.SetID("CP-2-20260301T000000Z-00112233")
	r.SetCreatedAt(layouttest.MustTime(t, "2026-03-01T00:00:00Z"))
	r.SetIssue("42")
	r.SetPhase("2")
	r.SetProgress(checkpoint.Progress{Current: "2", Completed: []string{"1"}, Total: 3})
	r.Doc().Set("stage", values.NewMap("number", 2, "agent", "worker", "last_action", "built"))
	for as, want := range map[codec.Name]string{
		crunch.Name: "CP-2-20260301T000000Z-00112233.yaml", claude.Name: "implement_42_20260301_000000.json",
		recovery.Name: "42.json", pipeline.Name: "checkpoint-42.json",
	} {
		out, err := layout.Find(as).Of(r)
		require.NoError(t, err)
		require.Len(t, out, 1)
		assert.Equal(t, want, out[0].Path)
		f, err := layout.Read(as, out[0].Path, out[0].Data)
		require.NoError(t, err)
		require.NoError(t, f.Err(false))
		assert.Equal(t, as, f.Layout)
	}
	_, err := layout.Find(dotagent.Name).Of(r)
	require.ErrorContains(t, err, `the phase "2" is not one of REQUIREMENTS`)
	r.SetProgress(checkpoint.Progress{Current: "ARCHITECTURE", Completed: []string{"REQUIREMENTS"}})
	out, err := layout.Find(dotagent.Name).Of(r)
	require.NoError(t, err)
	f, err := layout.Read(dotagent.Name, "phase.json", out[0].Data)
	require.NoError(t, err)
	require.NoError(t, f.Err(true))
	r.Doc().Delete("stage")
	_, err = layout.Find(pipeline.Name).Of(r)
	require.ErrorContains(t, err, "the record has no stage")
}

// Read rejects unreadable documents with a precise reason.
func TestReadRejects(t *testing.T) {
	for _, c := range []struct {
		name string
		as   codec.Name
		data string
		want string
	}{
		{"empty", claude.Name, "", "claude x.json: line 1, column 1: empty, want a mapping, at byte 0 of 0 (syntax)"},
		{"blank", claude.Name, " \n", "claude x.json: line 1, column 1: empty, want a mapping, at byte 0 of 2 (syntax)"},
		{"null", "", "null", "x.json: line 1, column 1: want a mapping, got null, at byte 0 of 4 (syntax)"},
		{"a list", "", "[1]", "x.json: line 1, column 1: want a mapping, got a list, at byte 0 of 3 (syntax)"},
		{"cut off", pipeline.Name, "{\n  \"phase\": 4,\n  \"x\":\n}\n", `pipeline x.json: line 4, column 1: invalid character '}' looking for beginning of value, at byte 23 of 25 (syntax)`},
		{"not UTF-8", claude.Name, "{\"a\": \"\xff\"}", "claude x.json: line 1, column 8: byte 0xff at offset 7 is not valid UTF-8, at byte 7 of 10 (syntax)"},
		{"a key twice", claude.Name, `{"a":1,"a":2}`, `claude x.json: line 1, column 8: key "a" is a duplicate, at byte 7 of 13 (syntax)`},
		{"a name", "", "checkpoint-002.json", "x.json: it only refers to another file: checkpoint-002.json"},
		{"another", recovery.Name, `{"a":1}`, "x.json: no document of the layout recovery"},
		{"none", "", `{"a":1}`, "x.json: not a document of a known system"},
		{"YAML", recovery.Name, "workflow_id: a\ncompleted_phases: []\n", "x.json: no document of the layout recovery"},
		{"a configuration", crunch.Name, "checkpoint:\n  enabled: true\n", "x.json: a configuration, not a checkpoint"},
		{"crunch version", crunch.Name, "checkpoint_id: a\nissue_number: 1\nversion: 2.0\n", `crunch x.json: version "2.0": this program reads version 1`},
		{"claude version", claude.Name, `{"workflow_type":"a","status":"b","schema_version":"4.0"}`, `claude x.json: version "4.0": this program reads 1.0 to 2.1 and 3.0`},
		{"workflow version", claude.Name, `{"workflow_data":{},"version":"9"}`, `claude x.json: version "9": this program reads 1.0 to 2.1 and 3.0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := layout.Read(c.as, "a/x.json", []byte(c.data))
			require.EqualError(t, err, c.want)
		})
	}
	_, err := layout.Parse("other")
	require.EqualError(t, err, `layout "other": want one of crunch, claude, recovery, dotagent, pipeline`)
}

func TestIgnored(t *testing.T) {
	for name, want := range map[string]string{
		"a/state.json.lock": "a lock", "a.json.tmp": "the remains of a write that was interrupted",
		".tmp-a.json": "the remains of a write that was interrupted", "a.json.backup": "a backup", "a.v2_backup": "a backup",
		"a.json.migrated": "a backup", "README.md": "neither JSON nor YAML by its name", "log.jsonl": "a journal, not a checkpoint",
		"a.json.template": "a template", "a.json": "", "b/a.yaml": "", ".workflow_state.json": "",
	} {
		assert.Equal(t, want, layout.Ignored(name), name)
	}
}

// File names from documents cannot leave their folder.
func TestFileNames(t *testing.T) {
	for in, want := range map[string]string{
		"../../x.json": "_.._x.json", "a/b": "a_b", `c:\d`: "c__d", "": "checkpoint.json", "..": "checkpoint.json",
		"\x1b[2J.json": "_[2J.json", strings.Repeat("x", 300): "checkpoint.json",
	} {
		assert.Equal(t, want, codec.FileName(in), "%q", in)
	}
}
