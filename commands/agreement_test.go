package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/require"
)

// An answer is what one output says about where the work of an issue goes on. A value that the
// output does not have is "-".
type answer struct{ point, phase, complete, verdict string }

// TestOutputsAgree saves generated states of native workflows and of documents of all systems,
// and compares the outputs of all commands: the point to go on from, the phase, whether the work
// is complete, and the verdict. GIT_CHECKPOINT_TEST_AGREEMENT_SEED gives other states, and
// GIT_CHECKPOINT_TEST_TORTURE=full more of them.
func TestOutputsAgree(t *testing.T) {
	worlds := 60
	switch {
	case gittest.Torture():
		worlds = 520
	case testing.Short():
		worlds = 30
	}
	seed, err := strconv.ParseUint(os.Getenv("GIT_CHECKPOINT_TEST_AGREEMENT_SEED"), 10, 64)
	if err != nil {
		seed = 1
	}
	a := newAgreement(t, rand.New(rand.NewPCG(seed, 1)))
	t.Chdir(a.Dir) // the commands run in this process
	for i, refused := 0, 0; i < worlds; {
		issue := fmt.Sprintf("K-%d", i)
		state := a.state(issue)
		if state == "" {
			refused++
			require.Less(t, refused, worlds/10+5, "most states have to be valid")
			continue
		}
		require.True(t, a.check(issue) && a.checkExport(issue, state), "seed %d, state:\n%s", seed, state)
		i++
	}
}

// An agreement is a repository whose issues have generated states.
type agreement struct {
	t *testing.T
	*gittest.Repo
	r     *rand.Rand
	files string // directory of exported files
	stdin string // of the next command
}

func newAgreement(t *testing.T, r *rand.Rand) *agreement {
	a := &agreement{t: t, Repo: gittest.New(t), r: r, files: t.TempDir()}
	a.Write("file", "1\n")
	a.Write(".git/info/exclude", "issues/\nmemory/\n")
	a.Git("add", "-A")
	a.Commit("first")
	a.Git("config", "checkpoint.issue-source", "file")
	a.Git("config", "checkpoint.issue-file", "issues/{issue}.yaml")
	return a
}

// run runs a command, and returns its output and exit code.
func (a *agreement) run(args ...string) (string, int) {
	var stdout, stderr bytes.Buffer
	environ := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_CHECKPOINT_") })
	env := &invoke.Env{
		Stdin: strings.NewReader(a.stdin), Stdout: &stdout, Stderr: &stderr, Environ: environ,
		Getenv: func(key string) string {
			for _, v := range slices.Backward(environ) {
				if value, ok := strings.CutPrefix(v, key+"="); ok {
					return value
				}
			}
			return ""
		},
		Now: func() time.Time { return time.Date(2026, 2, 14, 15, 0, 0, 0, time.UTC) },
		Tty: func() (io.ReadWriteCloser, error) { return nil, os.ErrNotExist },
	}
	a.stdin = ""
	code := Run(a.t.Context(), env, args)
	if code > 0 && stdout.Len() == 0 {
		return stderr.String(), code
	}
	return stdout.String(), code
}

// pick returns one of the values.
func pick[T any](a *agreement, values ...T) T { return values[a.r.IntN(len(values))] }

// state saves a generated state for an issue, and returns its description, or "" if the state
// breaks the rules of its system.
func (a *agreement) state(issue string) string {
	system := pick(a, "", "", "claude", "recovery", "crunch", "dotagent", "pipeline")
	doc := a.document(system, issue)
	data, err := json.Marshal(doc)
	require.NoError(a.t, err)
	a.Write(".git/state.json", string(data))
	a.issue(issue, pick(a, []string{}, []string{"state:implementing"}))
	args := []string{"save", issue, "--state", filepath.Join(a.Dir, ".git/state.json"), "--trigger", "manual"}
	if system != "" {
		args = []string{"save", issue, "--as", system, "--from", filepath.Join(a.Dir, ".git/state.json")}
	}
	if out, code := a.run(args...); code != 0 {
		a.t.Logf("refused: %s\n%s", data, out)
		return ""
	}
	if a.r.IntN(3) == 0 {
		a.turns(issue)
	}
	if a.r.IntN(4) == 0 {
		a.issue(issue, pick(a, []string{"state:docs"}, []string{"state:ready", "x"}, nil))
	}
	if a.r.IntN(3) == 0 {
		a.Write("memory/reports/demand.json", "{}\n")
	} else {
		_ = os.RemoveAll(a.Path("memory"))
	}
	return system + " " + string(data)
}

// turns ends turns of an agent, each with a request.
func (a *agreement) turns(issue string) {
	for n := range a.r.IntN(3) {
		a.Write("file", fmt.Sprintf("%s, turn %d\n", issue, n))
		a.stdin = fmt.Sprintf(`{"session_id":"ses-%s","prompt":"request %d","prompt_response":"done"}`, issue, n)
		out, code := a.run("hook", "turn", "gemini", "--issue", issue)
		require.Zero(a.t, code, out)
	}
}

func (a *agreement) issue(issue string, labels []string) {
	data, err := json.Marshal(map[string]any{"title": "work", "labels": labels})
	require.NoError(a.t, err)
	a.Write("issues/"+issue+".yaml", string(data))
}

// document returns a state of a system, or of a native workflow.
func (a *agreement) document(system, issue string) map[string]any {
	total, done := pick(a, 0, 1, 3, 5), []int{}
	for n := range pick(a, 0, 1, 2, 3, 5) {
		if total == 0 || n < total {
			done = append(done, n+1)
		}
	}
	current := len(done) + a.r.IntN(2)
	status := pick(a, "in_progress", "in_progress", "completed", "failed", "")
	at := "2026-02-14T14:00:00Z"
	m := map[string]any{}
	switch system {
	case "claude":
		m = map[string]any{
			"checkpoint_id": "implement_x_20260214_140000", "checkpoint_version": "1.0", "workflow_type": "implement", "workflow_description": "work", "project_name": "p",
			"created_at": at, "updated_at": at, "status": status, "current_phase": current, "total_phases": total, "completed_phases": done,
		}
	case "recovery":
		m = map[string]any{
			"workflow_id": issue, "plan_path": "none.md", "current_phase": current, "completed_phases": done, "replan_history": []int{},
			"phase_metadata": map[string]any{}, "created_at": at, "updated_at": at, "status": status,
		}
		if total > 0 {
			m["total_phases"] = total
		}
	case "crunch":
		phase := pick(a, "ready", "implementing", "validation", "docs", "done")
		m = map[string]any{
			"checkpoint_id": "CP-" + phase + "-20260214T140000Z-1f0c9a2b", "issue_number": issue, "trigger": "batch_complete", "created_at": at,
			"workflow_state":  map[string]any{"current_phase": phase},
			"execution_graph": map[string]any{"current_batch": a.r.IntN(4), "completed_batches": done[:min(len(done), 2)]},
			"recovery_info":   map[string]any{"can_resume": a.r.IntN(5) > 0, "resume_from": pick(a, "", "batch_3_task_1", "phase_"+phase)},
		}
	case "dotagent":
		phases := []string{"REQUIREMENTS", "ARCHITECTURE", "IMPLEMENTATION", "VERIFICATION", "REFLECTION"}
		at, completed := a.r.IntN(len(phases)), []any{}
		for _, phase := range phases[:at] {
			completed = append(completed, map[string]any{"phase": phase, "completed_at": "2026-02-14T13:00:00Z", "output": "out"})
		}
		m = map[string]any{
			"workflow_id": issue, "current_phase": phases[at], "phase_status": pick(a, "in_progress", "complete", "pending", "failed"),
			"completed_phases": completed, "updated_at": "2026-02-14T14:00:00Z", "interruption_safe": true,
		}
	case "pipeline":
		stage := a.r.IntN(4)
		m = map[string]any{
			"storyId": issue, "stage": stage, "agentId": "a", "timestamp": at, "lastAction": "x",
			"tasksCompleted": []string{}, "tasksRemaining": []string{},
		}
		maps.Copy(m, [4]map[string]any{
			{"planScore": 3, "tasksRemaining": []string{"T1"}},
			{"readiness": 8, "verdict": pick(a, "GO", "NO-GO"), "reason": "r"},
			{"tasksCompleted": []string{"T1"}, "tasksRemaining": pick(a, []string{}, []string{"T2"})},
			{"qualityScore": 80, "verdict": pick(a, "PASS", "FAIL", "WAIVED"), "issues": "i", "tasksCompleted": []string{"T1"}},
		}[stage])
	default:
		a.native(m, total, current, done, status)
	}
	return m
}

// native fills the state of a native workflow.
func (a *agreement) native(m map[string]any, total, current int, done []int, status string) {
	progress := map[string]any{"completed": done}
	if a.r.IntN(2) == 0 {
		progress["current"] = strconv.Itoa(current)
	}
	names := []string{"design", "build", "test"}
	switch {
	case a.r.IntN(3) == 0:
		progress = map[string]any{"names": names, "completed": names[:a.r.IntN(4)]}
		if a.r.IntN(3) == 0 {
			progress["skipped"] = names[2:]
		}
	case total > 0:
		progress["total"] = total
	}
	m["progress"] = progress
	if status != "" {
		m["workflow"] = map[string]any{"status": status}
	}
	if a.r.IntN(3) == 0 {
		m["workflow_state"] = map[string]any{"current_phase": pick(a, "design", "2", "implementing")}
	}
	if a.r.IntN(3) == 0 {
		m["tasks"] = map[string]any{"T1": map[string]any{"status": pick(a, "complete", "running", "pending")}, "T2": map[string]any{"status": pick(a, "complete", "failed", "pending")}}
	}
	if a.r.IntN(4) == 0 {
		progress["awaiting_approval"] = []string{pick(a, "design", "2")}
	}
	if a.r.IntN(3) == 0 {
		m["recovery_info"] = map[string]any{"resume_from": pick(a, "phase_1", "phase_2", "T1", "batch_2_task_1", "review")}
	}
	if a.r.IntN(4) == 0 {
		m["execution_graph"] = map[string]any{"current_batch": a.r.IntN(3), "completed_batches": done[:min(len(done), 1)]}
	}
}

// check compares the outputs for an issue, and reports the first that differs.
func (a *agreement) check(issue string) bool {
	outputs := []struct {
		name string
		read func(string) answer
		args []string
	}{
		{"status --json", readStatus, []string{"status", issue, "--json"}},
		{"status", readPlain, []string{"status", issue}},
		{"status --markdown", readMarkdown, []string{"status", issue, "--markdown"}},
		{ofAllIssues, a.readList(issue), []string{"list", "-n", "5000", "--json"}},
		{"phase next", readNext, []string{"phase", "next", "--issue", issue}},
		{"resume --json", readStatus, []string{"resume", issue, "--dry-run", "--yes", "--force", "--json"}},
		{"resume --print env", readEnv, []string{"resume", issue, "--dry-run", "--yes", "--force", "--print", "env"}},
		{"resume --print prompt", readPrompt, []string{"resume", issue, "--dry-run", "--yes", "--force", "--print", "prompt"}},
		{"resume", readLast, []string{"resume", issue, "--dry-run", "--yes", "--force"}},
		{"hook session-start", readPrompt, []string{"hook", "session-start", "--issue", issue}},
		{"list --json", readTip, []string{"list", issue, "--json"}},
		{"list", readTipLine, []string{"list", issue}},
		{"web", readPage, []string{"web", issue, "--export", "-"}},
	}
	var want answer
	for i, o := range outputs {
		if o.name == ofAllIssues && a.r.IntN(30) > 0 || o.name == "web" && a.r.IntN(4) > 0 {
			continue // it reads each issue, or takes long
		}
		out, code := a.run(o.args...)
		got := o.read(out)
		if i == 0 {
			want = got
			continue
		}
		if code > 0 && out == "" || strings.HasPrefix(o.name, "resume") && code > 0 {
			continue // a person has to approve a phase first
		}
		for what, pair := range map[string][2]string{
			"point": {want.point, got.point}, "phase": {want.phase, got.phase}, "complete": {want.complete, got.complete}, "verdict": {want.verdict, got.verdict},
		} {
			if pair[1] != "-" && pair[0] != pair[1] {
				a.t.Errorf("%s: status --json says %s %q, %s says %q (exit %d):\n%s", issue, what, pair[0], o.name, pair[1], code, out)
				return false
			}
		}
	}
	return true
}

// checkExport completes the next phase of some of the issues, exports the state as files of its
// system, or of a system that a native workflow can be written as, and reads them into another
// issue. Both issues have to go on at the same point.
func (a *agreement) checkExport(issue, state string) bool {
	if a.r.IntN(3) > 0 {
		return true
	}
	system, _, _ := strings.Cut(state, " ")
	a.issue(issue, nil) // a phase of the labels alone is none of the document
	if next, code := a.run("phase", "next", "--issue", issue); code == 0 && a.r.IntN(2) == 0 {
		a.run("phase", "done", strings.TrimSpace(next), "--issue", issue) // the rules of the system can refuse it
		if !a.check(issue) {
			return false
		}
	}
	if system == "" {
		system = pick(a, "crunch", "recovery")
	}
	dir := filepath.Join(a.files, issue)
	if out, code := a.run("export", issue, "--as", system, "--dir", dir); code != 0 {
		a.t.Logf("not exported as %s: %s", system, out)
		return true
	}
	a.Git("config", "checkpoint.issue-source", "none")
	defer a.Git("config", "checkpoint.issue-source", "file")
	out, code := a.run("save", "R-"+issue, "--as", system, "--from", a.newestDocument(system, dir))
	require.Zero(a.t, code, out)
	want, _ := a.run("status", issue, "--json")
	got, _ := a.run("status", "R-"+issue, "--json")
	x, y := readStatus(want), readStatus(got)
	if state[0] == ' ' && system == "recovery" && (!x.isPhase() || strings.Contains(state, "resume_from")) {
		return true // the system has no batches, tasks, approvals or recorded points
	}
	if _, err := strconv.Atoi(x.phase); state[0] == ' ' && system == "recovery" && err != nil {
		x.point, x.phase = y.point, y.phase // the system numbers its phases
	}
	if x.point != y.point || x.phase != y.phase || x.complete != y.complete {
		a.t.Errorf("%s: as it is: %v, exported as %s and read again: %v", issue, x, system, y)
		return false
	}
	return true
}

// isPhase reports whether the work is complete or goes on at the beginning of a phase.
func (x answer) isPhase() bool { return x.complete == "true" || strings.HasPrefix(x.point, "phase_") }

// newestDocument returns the exported file with the newest state.
func (a *agreement) newestDocument(system, dir string) (newest string) {
	require.NoError(a.t, filepath.WalkDir(dir, func(file string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && (system != "crunch" || e.Name() == "latest") {
			newest, err = filepath.EvalSymlinks(file)
		}
		return err
	}))
	return newest
}

// readTip returns "start_fresh" for a newest checkpoint that list marks as not resumable.
func readTip(out string) answer {
	var l struct {
		Checkpoints []struct {
			CanResume bool `json:"can_resume"`
		}
	}
	if json.Unmarshal([]byte(out), &l) != nil || len(l.Checkpoints) == 0 || l.Checkpoints[0].CanResume {
		return answer{"-", "-", "-", "-"}
	}
	return answer{"-", "-", "-", "start_fresh"}
}

// readTipLine does the same with the marks of the first line.
func readTipLine(out string) answer {
	if marks, _, _ := strings.Cut(out, "CP-"); strings.Contains(marks, "r") {
		return answer{"-", "-", "-", "-"}
	}
	return answer{"-", "-", "-", "start_fresh"}
}

var (
	pageWord  = regexp.MustCompile(`<p class="word">(.*)</p>`)
	pagePhase = regexp.MustCompile(`<dt>Phase</dt><dd dir="auto">([^,;<]*?)(?: of \d+)?[,;<]`)
	pagePoint = regexp.MustCompile(`<dt>Continue at</dt><dd dir="auto">(.*?)</dd>`)
)

// readPage reads the verdict, the phase and the point of an issue's page.
func readPage(out string) answer {
	find := func(re *regexp.Regexp) string {
		if m := re.FindStringSubmatch(out); m != nil {
			return html.UnescapeString(m[1])
		}
		return "-"
	}
	word, point := find(pageWord), find(pagePoint)
	if word == "Completed" {
		return answer{"", "", strconv.FormatBool(point == "nothing left to do"), "-"}
	}
	got := answer{pointOf(point), find(pagePhase), "false", map[string]string{
		"Ready to resume": "resume", "Ready, with warnings": "proceed_with_warning", "Needs an answer": "prompt_user", "Cannot be resumed": "start_fresh",
	}[word]}
	if got.phase == "none recorded" {
		got.phase = ""
	}
	return got
}

// ofAllIssues is the output about all issues.
const ofAllIssues = "list of all issues"

func readStatus(out string) answer {
	var s struct {
		ResumeFrom   string `json:"resume_from"`
		CurrentPhase string `json:"current_phase"`
		Complete     bool
		Action       string
	}
	if json.Unmarshal([]byte(out), &s) != nil {
		return answer{"-", "-", "-", "-"}
	}
	return answer{s.ResumeFrom, s.CurrentPhase, strconv.FormatBool(s.Complete), s.Action}
}

func (a *agreement) readList(issue string) func(string) answer {
	return func(out string) answer {
		var l struct {
			Issues []struct {
				Issue, Action string
				CurrentPhase  string `json:"current_phase"`
				Complete      bool
			}
		}
		if json.Unmarshal([]byte(out), &l) != nil || l.Issues == nil {
			return answer{"-", "-", "-", "-"} // the only issue
		}
		for _, s := range l.Issues {
			if s.Issue == issue {
				return answer{"-", s.CurrentPhase, strconv.FormatBool(s.Complete), s.Action}
			}
		}
		return answer{"-", "missing", "-", "-"}
	}
}

func readNext(out string) answer { return answer{"-", strings.TrimSpace(out), "-", "-"} }

func readEnv(out string) answer {
	get := func(name string) string {
		m := regexp.MustCompile(`(?m)^` + name + `=(.*)$`).FindStringSubmatch(out)
		if m == nil {
			return "-"
		}
		return strings.Trim(m[1], "'")
	}
	got := answer{get("CHECKPOINT_RESUME_FROM"), get("CHECKPOINT_CURRENT_PHASE"), get("CHECKPOINT_COMPLETE"), get("CHECKPOINT_ACTION")}
	if strings.HasPrefix(got.point, "CP-") {
		got.point = "" // a checkpoint without a point
	}
	return got
}

// pointOf returns the point of a text for people.
func pointOf(text string) string {
	text = strings.Trim(strings.TrimSpace(text), "`")
	if m := regexp.MustCompile(`^(?:Phase .*, )?batch (\d+), task (\d+)$`).FindStringSubmatch(text); m != nil {
		return "batch_" + m[1] + "_task_" + m[2]
	}
	phase, ok := strings.CutPrefix(text, "Phase ")
	switch {
	case ok && strings.HasPrefix(phase, "stage_"):
		return phase
	case ok:
		return "phase_" + phase
	case text == "the checkpoint" || strings.HasPrefix(text, "the files and notes"):
		return ""
	}
	return text
}

var resumeLine = regexp.MustCompile(`(?m)^(?:- )?Resume: ([^,\n]*(?:, with warnings|, the work starts over)?)(?:, at (.*))?$`)

func readPlain(out string) answer {
	m := resumeLine.FindStringSubmatch(out)
	if m == nil {
		return answer{"-", "-", "-", "-"}
	}
	verdict := map[string]string{"yes": "resume", "yes, with warnings": "proceed_with_warning", "after an answer from you": "prompt_user", "no, the work starts over": "start_fresh"}[m[1]]
	got := answer{"-", "-", strconv.FormatBool(m[1] == "nothing left to do"), verdict}
	if verdict == "" {
		got.verdict = "-"
	}
	if verdict != "" && verdict != "start_fresh" {
		got.point = pointOf(m[2])
	}
	return got
}

func readMarkdown(out string) answer { return readPlain(out) }

func readPrompt(out string) answer {
	get := func(name string) string {
		m := regexp.MustCompile(`(?m)^\| ` + name + `(?: \(written [^)]*\))?: (.*)$`).FindStringSubmatch(out)
		if m == nil {
			return "-"
		}
		return m[1]
	}
	from := get("Continue from")
	if from == "-" {
		return answer{"-", "-", "-", "-"}
	}
	got := answer{pointOf(from), "-", strconv.FormatBool(from == "nothing left to do"), "resume"}
	if m := regexp.MustCompile(`(?m)^\| Phases: (?:.*; )?(\S+) in progress`).FindStringSubmatch(out); m != nil {
		got.phase = m[1]
	}
	if words := get("Can be resumed"); words != "-" {
		got.verdict = map[string]string{"yes, with warnings": "proceed_with_warning", "after an answer from a person": "prompt_user", "yes, and files that changed since stay as they are": "prompt_user", "no, the work starts over": "start_fresh"}[words]
	}
	if got.complete == "true" {
		got.point = "-"
	}
	return got
}

// readLast reads the last line of a resume: the point, a text if nothing is left, or another line
// of the output if there is no point.
func readLast(out string) answer {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	last := lines[len(lines)-1]
	switch {
	case last == "nothing left to do":
		return answer{"-", "-", "true", "-"}
	case strings.Contains(last, ": "), strings.HasPrefix(last, "Issue "):
		last = ""
	}
	return answer{last, "-", "false", "-"}
}
