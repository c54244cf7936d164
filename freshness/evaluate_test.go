package freshness

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

var update = flag.Bool("update", false, "rewrite golden files")

const (
	savedHead = "1f0c9a2b3c4d5e6f708192a3b4c5d6e7f8091a2b"
	laterHead = "8e1d3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c"
	chainTip  = "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00"
)

var noon = time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)

// world is a checkpoint created one hour ago without later changes. Tests modify one
// property.
type world struct {
	record *checkpoint.Record
	facts  Facts
	rules  Rules
}

func fresh() *world {
	r := checkpoint.New()
	r.SetID("CP-implementing-20260214T110000Z-1f0c9a2b")
	r.SetCreatedAt(noon.Add(-time.Hour))
	r.SetPhase("implementing")
	r.SetStateLabel("state:implementing")
	r.SetBranch("feature/issue-42")
	r.SetIssueSnapshot(checkpoint.IssueSnapshot{
		Known: true, Title: "Refresh tokens", Body: "Tokens expire.\n\nRefresh them.\n",
		Labels: []string{"state:implementing", "type:feature"}, Assignees: []string{"ada"}, State: "open",
	})
	r.SetFiles([]checkpoint.File{{Path: "a.go", Status: "modified", Staged: true}})
	r.Doc().Set("agent_outputs", outputsDoc("docs/spec.md"))
	return &world{record: r, facts: Facts{
		Now: noon, Commit: chainTip,
		Branch: Branch{State: BranchExists},
		Head:   Head{State: HeadSame, Saved: savedHead, Now: savedHead},
		Issue: &SourceIssue{
			Title: "Refresh tokens", Body: "Tokens expire.\n\nRefresh them.\n",
			Labels: []string{"type:feature", "state:implementing"}, Assignees: []string{"ada"}, State: "open",
			Source: "issue.yaml",
		},
		Files:   Files{Checked: true},
		Outputs: Outputs{Checked: true},
	}}
}

func outputsDoc(place string) *checkpoint.Map {
	spec, agent, all := checkpoint.NewMap(), checkpoint.NewMap(), checkpoint.NewMap()
	spec.Set("output_location", place)
	agent.Set("create_spec", spec)
	all.Set("architect", agent)
	return all
}

func (w *world) progress(current string, completed, names []string) {
	w.record.SetProgress(checkpoint.Progress{Current: current, Completed: completed, Names: names})
}

func (w *world) judge() Verdict { return Evaluate(w.record, w.facts, w.rules) }

// findings lists every finding, each caused by one change of a fresh world. want is the
// expected action; a golden file has texts and details.
var findings = []struct {
	name   string
	check  string
	want   Action
	change func(*world)
}{
	{"label added", "labels", ProceedWithWarning, func(w *world) { w.facts.Issue.Labels = append(w.facts.Issue.Labels, "domain:api") }},
	{"label removed", "labels", ProceedWithWarning, func(w *world) { w.facts.Issue.Labels = []string{"state:implementing"} }},
	{"state label moved", "labels", ProceedWithWarning, func(w *world) { w.facts.Issue.Labels = []string{"state:validation", "type:feature"} }},
	{"state label without a phase", "labels", ProceedWithWarning, func(w *world) { w.facts.Issue.Labels = []string{"state:party", "type:feature"} }},
	{"two state labels", "labels", ProceedWithWarning, func(w *world) {
		w.facts.Issue.Labels = []string{"state:docs", "state:validation", "type:feature"}
	}},
	{"all labels gone", "labels", ProceedWithWarning, func(w *world) { w.facts.Issue.Labels = nil }},
	{"body changed", "body", PromptUser, func(w *world) { w.facts.Issue.Body = "Tokens expire.\n\nRevoke them.\n" }},
	{"body gone", "body", PromptUser, func(w *world) { w.facts.Issue.Body = "" }},
	{"body longer", "body", PromptUser, func(w *world) { w.facts.Issue.Body += "And log it." + strings.Repeat("!", 80) }},
	{"body against a digest", "body", PromptUser, func(w *world) { w.digest(BodyDigest("something else")) }},
	{"digest of an unknown kind", "body", ProceedWithWarning, func(w *world) { w.digest("md5:00") }},
	{"branch gone", "branch", StartFresh, func(w *world) { w.facts.Branch.State = BranchGone }},
	{"branch gone, remote has it", "branch", ProceedWithWarning, func(w *world) {
		w.facts.Branch = Branch{State: BranchRemote, Remote: "origin/feature/issue-42"}
	}},
	{"branch gone, remote has it without a ref here", "branch", ProceedWithWarning, func(w *world) {
		w.facts.Branch = Branch{State: BranchRemote, At: "origin"}
	}},
	{"on another branch", "branch", PromptUser, func(w *world) {
		w.facts.Branch = Branch{State: BranchOther, Name: "main", Exists: true}
	}},
	{"on another branch, checked out elsewhere", "branch", PromptUser, func(w *world) {
		w.facts.Branch = Branch{State: BranchOther, Name: "main", Exists: true, Place: "/a b/fix"}
	}},
	{"on another branch, renamed", "branch", PromptUser, func(w *world) {
		w.facts.Branch = Branch{State: BranchOther, Name: "main", Became: "fix/42"}
	}},
	{"on another branch, not in this clone", "branch", PromptUser, func(w *world) {
		w.facts.Branch, w.facts.Name = Branch{State: BranchOther, Name: "main"}, "42"
	}},
	{"branch never seen", "branch", ProceedWithWarning, func(w *world) { w.facts.Branch.State = BranchUnseen }},
	{"branch renamed", "branch", ProceedWithWarning, func(w *world) { w.facts.Branch = Branch{State: BranchRenamed, Name: "fix/42"} }},
	{"branch replaced", "branch", Resume, func(w *world) { w.facts.Branch = Branch{State: BranchReplaced, Name: "fix/42"} }},
	{"branch unchecked", "branch", ProceedWithWarning, func(w *world) { w.facts.Branch = Branch{Why: "refs cannot be read"} }},
	{"cannot resume", "can_resume", StartFresh, func(w *world) { w.record.SetCanResume(false) }},
	{"cannot resume, with reasons", "can_resume", StartFresh, func(w *world) {
		w.record.SetCanResume(false)
		w.record.SetWarnings([]string{"tests fail", "schema is half migrated"})
	}},
	{"head moved on", "head", Resume, func(w *world) { w.facts.Head = Head{State: HeadMovedOn, Saved: savedHead, Now: laterHead, Ahead: 2} }},
	{"head moved on, not counted", "head", Resume, func(w *world) { w.facts.Head = Head{State: HeadMovedOn, Saved: "", Now: laterHead} }},
	{"head rebased", "head", PromptUser, func(w *world) { w.facts.Head = Head{State: HeadApart, Saved: savedHead, Now: laterHead} }},
	{"head rebased, detached", "head", PromptUser, func(w *world) {
		w.record.SetBranch("")
		w.facts.Head = Head{State: HeadApart, Saved: savedHead, Now: ""}
	}},
	{"head diverged", "head", Resume, func(w *world) {
		w.facts.Head = Head{State: HeadDiverged, Saved: savedHead, Now: laterHead, Base: chainTip, Ahead: 4, Gone: 1}
	}},
	{"head elsewhere", "head", PromptUser, func(w *world) {
		w.facts.Head = Head{State: HeadApart, Saved: savedHead, Now: laterHead, Base: laterHead, Gone: 2, Home: "feature/issue-42"}
	}},
	{"head elsewhere, another worktree", "head", PromptUser, func(w *world) {
		w.facts.Head = Head{State: HeadApart, Saved: savedHead, Now: laterHead, Base: laterHead, Gone: 2, Home: "fix", Worktree: "/a b/fix"}
	}},
	{"head went back", "head", PromptUser, func(w *world) {
		w.facts.Head = Head{State: HeadApart, Saved: savedHead, Now: laterHead, Base: laterHead, Gone: 2}
	}},
	{"head of a shallow clone", "head", PromptUser, func(w *world) {
		w.facts.Head = Head{State: HeadUnknown, Saved: savedHead, Now: laterHead, Why: "the clone is shallow"}
	}},
	{"head unchecked", "head", ProceedWithWarning, func(w *world) { w.facts.Head = Head{Why: "the clone is shallow"} }},
	{"base moved", "base", Resume, func(w *world) { w.facts.Base = Base{"main", 3} }},
	{"a file changed", "files", PromptUser, func(w *world) { w.facts.Files.Changed = []string{"a.go"} }},
	{"files changed", "files", PromptUser, func(w *world) { w.facts.Files.Changed = []string{"a.go", "b\n.go", "c", "d"} }},
	{"files changed, answered", "files", ProceedWithWarning, func(w *world) {
		w.facts.Files.Changed = []string{"a.go"}
		w.rules.FilesAnswered = true
	}},
	{"files unchecked", "files", ProceedWithWarning, func(w *world) { w.facts.Files = Files{Why: "no worktree"} }},
	{"an output is missing", "outputs", PromptUser, func(w *world) { w.facts.Outputs.Missing = []string{"docs/spec.md"} }},
	{"outputs are missing", "outputs", PromptUser, func(w *world) { w.facts.Outputs.Missing = []string{"docs/spec.md", "b"} }},
	{"an output changed", "outputs", ProceedWithWarning, func(w *world) { w.facts.Outputs.Changed = []string{"docs/spec.md"} }},
	{"outputs unchecked", "outputs", ProceedWithWarning, func(w *world) { w.facts.Outputs = Outputs{} }},
	{"in the future", "time", ProceedWithWarning, func(w *world) { w.record.SetCreatedAt(noon.Add(2 * time.Hour)) }},
	{"far in the future", "time", ProceedWithWarning, func(w *world) { w.record.SetCreatedAt(noon.Add(15 * time.Hour)) }},
	{"old", "time", ProceedWithWarning, func(w *world) { w.record.SetCreatedAt(noon.Add(-DefaultMaxAge - time.Second)) }},
	{"no time", "time", ProceedWithWarning, func(w *world) { w.record.Doc().Delete("created_at") }},
	{"no clock", "time", ProceedWithWarning, func(w *world) { w.facts.Now = time.Time{} }},
	{"phases out of order", "progress", PromptUser, func(w *world) {
		w.progress("build", []string{"plan", "test"}, []string{"plan", "build", "test"})
	}},
	{"phases twice", "progress", ProceedWithWarning, func(w *world) {
		w.progress("build", []string{"plan", "plan"}, []string{"plan", "build", "test"})
	}},
	{"a task ran", "tasks", ProceedWithWarning, func(w *world) { w.tasks("tasks", "{T1: {status: running}, T2: {status: complete}}") }},
	{"a task ran to its end", "tasks", ProceedWithWarning, func(w *world) {
		w.tasks("tasks", "{T1: {status: running, output: out/T1.json}}")
		w.facts.Tasks = map[string]tasks.Found{"T1": {Exists: true}}
	}},
	{"a task left half an output", "tasks", ProceedWithWarning, func(w *world) {
		w.tasks("tasks", "{T1: {status: running, output: out/T1.json}}")
		w.facts.Tasks = map[string]tasks.Found{"T1": {Exists: true, Broken: true}}
	}},
	{"a batch that is not there", "tasks", ProceedWithWarning, func(w *world) {
		w.tasks("execution_graph", "{current_batch: 7, node_states: {a: {status: pending}}}")
	}},
	{"a story is paused", "story", PromptUser, func(w *world) {
		w.tasks("stage", "{number: 2, story: AB-1}")
		w.tasks("pipeline", "{story_state: {AB-1: PAUSED}, crash_count: {AB-1: 2}}")
	}},
	{"approval pending", "approval", PromptUser, func(w *world) {
		w.record.Doc().MustSub("progress").Set("awaiting_approval", []any{"ARCHITECTURE"})
	}},
	{"more tokens than the limit", TokensCheck, PromptUser, func(w *world) {
		w.record.SetSpent([]checkpoint.Spent{{Agent: "claude", Tokens: checkpoint.Tokens{Input: 500, Output: 200, CacheRead: 9000, CacheWrite: 301}}})
		w.rules.MaxTokens = 1000
	}},
	{"tests failed", "workflow", ProceedWithWarning, func(w *world) { w.workflow("tests_passing", false) }},
	{"run ended with an error", "workflow", ProceedWithWarning, func(w *world) { w.workflow("last_error", "exit status 2") }},
	{"workflow completed", "workflow", ProceedWithWarning, func(w *world) { w.workflow("status", "completed") }},
	{"dotagent's phase failed", "workflow", PromptUser, func(w *world) {
		w.workflow("status", "failed")
		layout := checkpoint.NewMap()
		layout.Set("name", "dotagent")
		w.record.Doc().Set("layout", layout)
	}},
	{"plan changed", "workflow", ProceedWithWarning, func(w *world) { w.facts.Plan.Changed = true }},
	{"plan unchecked", "workflow", ProceedWithWarning, func(w *world) { w.facts.Plan.Why = "outside the worktree" }},
	{"write interrupted", "workflow", PromptUser, func(w *world) { w.workflow("interruption_safe", false) }},
	{"tests failed, nobody there", "workflow", PromptUser, func(w *world) {
		w.rules.Auto = true
		w.workflow("tests_passing", false)
	}},
	{"begun by another command", "command", PromptUser, func(w *world) {
		w.workflow("command", "coordinate")
		w.facts.By = "build"
	}},
	{"resumed again and again", "loop", ProceedWithWarning, func(w *world) { w.facts.Resumes = 2 }},
	{"issue unchecked", "issue", ProceedWithWarning, func(w *world) { w.facts.Issue, w.facts.NoIssue = nil, "no source is configured" }},
	{"issue closed", "issue", ProceedWithWarning, func(w *world) { w.facts.Issue.State = "closed" }},
	{"title changed", "issue", ProceedWithWarning, func(w *world) { w.facts.Issue.Title = "Rotate tokens" }},
	{"assignees changed", "issue", ProceedWithWarning, func(w *world) { w.facts.Issue.Assignees = []string{"bob"} }},
	{"source without a body", "issue", ProceedWithWarning, func(w *world) {
		w.facts.Issue.Body, w.facts.Issue.Absent = "", []string{"body"}
	}},
	{"warnings of the record", "record", ProceedWithWarning, func(w *world) { w.record.SetWarnings([]string{"big.bin was skipped"}) }},
	{"prerequisites not met", "record", ProceedWithWarning, func(w *world) { w.record.SetPrerequisitesMet(false) }},
	{"finding of the caller", "gate", PromptUser, func(w *world) {
		w.facts.Findings = []Reason{{Check: "gate", Action: PromptUser, Message: "Gate is closed"}}
	}},
}

// dotagent makes the record a dotagent record with the times of its state.
func (w *world) dotagent(began, touched time.Time) {
	w.workflow("started_at", checkpoint.FormatTime(began))
	w.workflow("updated_at", checkpoint.FormatTime(touched))
	layout := checkpoint.NewMap()
	layout.Set("name", "dotagent")
	w.record.Doc().Set("layout", layout)
}

// TestDotagentTimes checks the findings about the times of a dotagent state.
func TestDotagentTimes(t *testing.T) {
	old := -DefaultMaxAge - time.Second
	for _, c := range []struct {
		began, touched time.Duration
		want           string
		old, corrupt   bool
	}{
		{-time.Hour, 2 * time.Hour, "last_updated 2026-02-14T14:00:00.000000Z is in the future", false, false},
		{15 * time.Hour, 0, "started_at 2026-02-15T03:00:00.000000Z is more than 14 h in the future: a clock is wrong", false, true},
		{old - time.Hour, old, "State was last updated more than 7 days ago: 2026-02-07T11:59:59.000000Z", true, false},
		{old, 0, "Workflow was started more than 7 days ago: 2026-02-07T11:59:59.000000Z", true, false},
	} {
		w := fresh()
		w.dotagent(noon.Add(c.began), noon.Add(c.touched))
		v := w.judge()
		assert.Equal(t, []string{c.want}, v.Warnings())
		assert.Equal(t, ProceedWithWarning, v.Action)
		assert.Equal(t, c.old, v.Old, c.want)
		assert.Equal(t, c.corrupt, v.Corrupt, c.want)
	}
	w := fresh()
	w.dotagent(noon.Add(old), noon)
	w.record.SetResumedStale()
	assert.False(t, w.judge().Old, "a person resumed it")
	assert.Equal(t, Resume, w.judge().Action)
	w.dotagent(noon.Add(15*time.Hour), noon)
	w.record.Doc().Delete("layout")
	assert.Equal(t, Resume, w.judge().Action, "times of another layout")
}

// tasks sets a section of the record.
func (w *world) tasks(key, yaml string) {
	m, err := checkpoint.DecodeDocument([]byte("it: "+yaml), checkpoint.DefaultLimits)
	if err != nil {
		panic(err)
	}
	w.record.Doc().Set(key, m.Sub("it"))
}

func (w *world) workflow(key string, value any) {
	m, ok := w.record.Doc().Get("workflow")
	if !ok {
		m = checkpoint.NewMap()
		w.record.Doc().Set("workflow", m)
	}
	m.(*checkpoint.Map).Set(key, value)
}

func (w *world) digest(d string) {
	m, _ := w.record.Doc().Get("issue_snapshot")
	m.(*checkpoint.Map).Set("body_digest", d)
	m.(*checkpoint.Map).Delete("body")
}

// TestFresh evaluates an unchanged checkpoint.
func TestFresh(t *testing.T) {
	v := fresh().judge()
	assert.Equal(t, Verdict{Action: Resume, CanResume: true, AutoResume: true, AutoReason: "All conditions met", Files: Files{Checked: true}, At: progress.Point{Phase: "implementing", Code: "phase_implementing"}}, v)
	assert.Empty(t, v.Warnings())
}

// TestPointFollowsLabels checks that the state label selects the phase, unless phases are only
// numbered or the work is complete.
func TestPointFollowsLabels(t *testing.T) {
	w := fresh()
	w.facts.Issue.Labels = []string{"state:validation"}
	assert.Equal(t, progress.Point{Phase: "validation", Code: "phase_validation"}, w.judge().At)
	w.record.SetResumeFrom("batch_3_task_1")
	assert.Equal(t, progress.Point{Phase: "validation", Code: "batch_3_task_1"}, w.judge().At)
	w.record.SetProgress(checkpoint.Progress{Completed: []string{"1"}, Total: 3})
	w.record.SetResumeFrom("")
	assert.Equal(t, progress.Point{Phase: "2", Code: "phase_2"}, w.judge().At)
	w.record.SetProgress(checkpoint.Progress{Completed: []string{"1"}, Total: 1})
	assert.Equal(t, progress.Point{Complete: true}, w.judge().At)
}

// TestFindings checks the action of every finding, and compares every text with a golden file.
func TestFindings(t *testing.T) {
	var b strings.Builder
	for _, f := range findings {
		w := fresh()
		f.change(w)
		v := w.judge()
		require.NotEmpty(t, v.Reasons, f.name)
		for _, r := range v.Reasons {
			assert.Equal(t, []any{f.check, f.want}, []any{r.Check, r.Action}, f.name)
		}
		assert.Equal(t, f.want, v.Action, f.name)
		assert.Equal(t, f.want != StartFresh, v.CanResume, f.name)
		assert.Equal(t, f.want == Resume, len(v.Warnings()) == 0, "%s: only notes are no warnings", f.name)
		fmt.Fprintf(&b, "# %s\n%s", f.name, v.Action)
		if v.Phase != "" {
			fmt.Fprintf(&b, ", phase %q", v.Phase)
		}
		b.WriteByte('\n')
		for _, r := range v.Reasons {
			writeReason(&b, r)
		}
		b.WriteByte('\n')
	}
	golden(t, "findings.golden", b.String())
}

func writeReason(b *strings.Builder, r Reason) {
	fmt.Fprintf(b, "%s: %s: %s\n", r.Check, r.Action.Severity(), r.Message)
	for _, d := range r.Detail {
		fmt.Fprintf(b, "    %s\n", d)
	}
	for _, d := range r.Diff {
		fmt.Fprintf(b, "    | %s\n", d)
	}
	if r.Hint != "" {
		fmt.Fprintf(b, "    hint: %s\n", r.Hint)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "run with -update after checking")
}

// TestNothingKnown evaluates a record without facts. No check may return fresh or an
// error.
func TestNothingKnown(t *testing.T) {
	v := Evaluate(fresh().record, Facts{}, Rules{})
	assert.Equal(t, ProceedWithWarning, v.Action)
	assert.True(t, v.CanResume)
	assert.Equal(t, []string{
		"Branch feature/issue-42 not checked: no data",
		"HEAD not checked: no data",
		"Files not checked: no data",
		"Outputs not checked: no data",
		"Checkpoint time not checked: the current time is unknown",
		"Issue not checked: no data",
	}, v.Warnings())
}

// TestNothingRecorded evaluates an empty record. Unrecorded fields need no check, even if
// facts are missing.
func TestNothingRecorded(t *testing.T) {
	v := Evaluate(checkpoint.New(), Facts{Now: noon, Head: Head{State: HeadSame}}, Rules{})
	assert.Equal(t, []string{"Checkpoint time not checked: created_at is missing or cannot be read"}, v.Warnings())

	empty := Evaluate(checkpoint.FromDoc(nil), Facts{}, Rules{})
	assert.Equal(t, ProceedWithWarning, empty.Action)
}
