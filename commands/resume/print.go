package resume

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/pipeline"
	"git-checkpoint/gitstore/retention"
)

// showResumed prints the resumed checkpoint. The last line on standard output is the
// resume point.
func showResumed(c *invoke.Invocation, r *resumption) error {
	if c.Line.JSON || r.options.print == "env" {
		return showOutcome(c, r)
	}
	if r.options.print == "prompt" {
		more := work.HandOverFacts(c, &r.Standing, "")
		more.Attempt = r.attempt()
		if r.restored != nil {
			more.Skipped, more.Unsaved = r.restored.Skipped, r.Verdict.Files.Unsaved
		}
		c.Printf("%s", cmp.Or(r.texts.Prompt, view.Prompt(&r.Standing, more, c.Env.Now(), view.BytesPerToken*r.options.maxTokens)))
		return nil
	}
	if r.texts.Resumed != "" {
		return showResumedAs(c, r)
	}
	if at, people, err := c.Screen("auto"); err != nil {
		return err
	} else if people && r.options.as == "" {
		screenResumed(c, at, r)
		return nil
	}
	plainResumed(c, r)
	return nil
}

func plainResumed(c *invoke.Invocation, r *resumption) {
	work.LookBeside(c, &r.Standing)
	more := view.Filled(view.Row{Label: "Next", Text: r.NextText()}, view.Row{Label: "Attempt", Text: r.attemptText()})
	rows := slices.Concat(r.BesideRows(), r.PlainProgress(), more, r.ReasonRows(nil))
	c.Printf("%s\n%s", r.fromLine(), view.Plain(rows))
	if r.restored != nil {
		showRestored(c, r.restored, r.options.dryRun)
	}
	for _, hint := range r.changedHints() {
		c.Infof("hint: %s", hint)
	}
	session := view.Filled(view.Row{Label: "Session", Text: r.Session.Text})
	c.Printf("%s", view.Plain(append(session, view.TeamRows(r.Record)...)))
	showResumePoint(c, r)
}

func (r *resumption) fromLine() string {
	return view.Clean(fmt.Sprintf("%s, from %s (%s)", r.Heading(), r.Checkpoint.ID, r.SavedText()))
}

// showResumePoint prints the last line of a resume: the code of the resume point. It prints
// nothing if the work has no resume point.
func showResumePoint(c *invoke.Invocation, r *resumption) {
	switch code := r.Verdict.At.Code; {
	case r.Verdict.At.Complete:
		c.Printf("%s\n", view.NothingLeft)
	case code != "":
		c.Printf("%s\n", view.Clean(code))
	}
}

// showOutcome prints the output for scripts: the JSON record or the variables.
func showOutcome(c *invoke.Invocation, r *resumption) error {
	if c.Line.JSON {
		if r.options.ci {
			printEnv(c, r)
		}
		work.LookBeside(c, &r.Standing)
		out := view.Resume{Status: r.StatusRecord("resume"), DryRun: r.options.dryRun}
		out.Action = r.action()
		out.LabelsAdded, out.LabelsRemoved = r.synced.Add, r.synced.Remove
		if data, err := r.Stored.JSON(); err == nil {
			out.Checkpoint = json.RawMessage(data)
		}
		out.PhaseAttempt, out.Start = r.attempt(), r.startWords()
		if f := r.restored; f != nil {
			out.Restored, out.Removed, out.Conflicts, out.Undo = view.QuotePaths(f.Restored), view.QuotePaths(f.Removed), view.QuotePaths(f.Merged), f.Undo
		}
		out.Warnings = append(out.Warnings, c.TakeWarnings()...)
		return c.WriteJSON(out)
	}
	if r.options.print == "env" {
		printEnv(c, r)
		for _, reason := range r.Verdict.Reasons { // the variables cannot hold them
			if r.options.ci && !r.ended && reason.Action == freshness.ProceedWithWarning {
				c.Warnf("%s", reason.Message)
			}
		}
	}
	return nil
}

// action returns the user's choice, or the verdict's action if the user chose to resume.
func (r *resumption) action() string {
	switch {
	case r.chosen == "s":
		return freshness.StartFresh.String()
	case r.chosen == "d", r.ended:
		return actionNone
	}
	return r.Verdict.Action.String()
}

// actionNone is the action if no checkpoint exists, or if a CI job has nothing to do.
const actionNone = "none"

// printEnv prints a checkpoint's variables for shell evaluation. SKIP_TO_PHASE is set only
// if work resumes.
func printEnv(c *invoke.Invocation, r *resumption) {
	skip := ""
	if r.resumed || r.chosen == "" && r.Verdict.Action <= freshness.ProceedWithWarning {
		skip = r.Verdict.At.Phase
	}
	vars := variables{
		action: r.action(), id: string(r.Checkpoint.ID), from: r.Verdict.At.Code,
		phase: r.Verdict.At.Phase, completed: strings.Join(r.Record.Progress().Completed, ","), skip: skip,
		next:  r.Verdict.Next.Action,
		paths: string(view.WorkflowJSON(r.Record, "artifact_paths")), context: string(view.WorkflowJSON(r.Record, "context_metadata")),
	}
	if r.Verdict.At.Complete {
		vars.complete, vars.from, vars.phase, vars.skip, vars.next = true, "", "", "", ""
	}
	setVariables(c, r, vars)
}

// printNone prints the variables of an issue without checkpoints in its chain. The work is
// complete if its checkpoints are archived as completed, or after a comparison of forks.
func printNone(c *invoke.Invocation, r *resumption, issue checkpoint.Issue) {
	filed, err := c.Store.Facts.Ended(c.Ctx, issue)
	if err != nil {
		c.Warnf("%v", err)
	}
	r.archived = filed.Why
	over := []retention.Reason{retention.ReasonCompleted, retention.ReasonAdopted, retention.ReasonCompared}
	setVariables(c, r, variables{action: actionNone, complete: slices.Contains(over, r.archived)})
}

// variables are the values that resume prints for a shell.
type variables struct {
	action, id, from, phase, completed, skip string
	complete                                 bool
	next                                     string // action of a dotagent workflow
	paths, context                           string // mappings of a recovery workflow, as JSON
}

// setVariables sets and prints every variable, so that no value of an earlier run
// remains. With --json the record replaces the output.
func setVariables(c *invoke.Invocation, r *resumption, v variables) {
	r.vars = []Variable{
		{"CHECKPOINT_ACTION", v.action},
		{"CHECKPOINT_COMPLETE", strconv.FormatBool(v.complete)},
		{"CHECKPOINT_ID", v.id},
		{"CHECKPOINT_RESUME_FROM", v.from},
		{"CHECKPOINT_CURRENT_PHASE", v.phase},
		{"CHECKPOINT_COMPLETED_PHASES", v.completed},
		{"SKIP_TO_PHASE", v.skip},
		{"CHECKPOINT_NEXT", v.next},
		{"CHECKPOINT_ARTIFACT_PATHS", v.paths},
		{"CHECKPOINT_CONTEXT_METADATA", v.context},
	}
	for _, v := range r.vars {
		if !c.Line.JSON {
			c.Printf("%s=%s\n", v.Name, view.Shell(v.Value))
		}
	}
}

// speak sets the texts of the --as system for the resumed checkpoint.
func speak(c *invoke.Invocation, r *resumption) error {
	as := r.options.as
	var err error
	if as == pipeline.Name && !story.IsLead(r.Record) && (pipeline.HasStage(r.Record) || r.options.template != "") {
		err = speakOfWorker(c, r)
	} else {
		r.texts, err = layout.Find(as).ResumeTexts(r.Record)
	}
	if err != nil {
		return failure.Errorf(failure.Usage, "git checkpoint resume "+view.IssueArg(r.Checkpoint.Issue), "resume %s --as %s: %w", r.Checkpoint.ID, as, err)
	}
	if as == pipeline.Name {
		warnLostWorktrees(c, r.Record)
	}
	return nil
}

// warnLostWorktrees names the worktrees of a lead's open stories that are not in this clone.
func warnLostWorktrees(c *invoke.Invocation, r *checkpoint.Record) {
	for _, s := range story.Stories(r) {
		dir := pipeline.Worktree(r, s.ID)
		if dir == "" || s.State == story.Done {
			continue
		}
		place := filepath.FromSlash(dir)
		if !filepath.IsAbs(place) {
			place = filepath.Join(c.Store.Root(), place)
		}
		if _, err := os.Stat(place); errors.Is(err, fs.ErrNotExist) {
			c.Warnf("story %s: its worktree %s does not exist here", s.ID, view.QuotePath(dir))
		}
	}
}

// speakOfWorker sets the texts of a pipeline worker, including the state of its lead.
func speakOfWorker(c *invoke.Invocation, r *resumption) error {
	template := ""
	if name := r.options.template; name != "" {
		data, err := c.ReadInput(name)
		if err != nil {
			return err
		}
		template = view.CleanBlock(string(data))
	}
	w, err := pipeline.WorkerOf(r.Record, nil)
	if err != nil {
		return err
	}
	if lead := leadOf(c, w.Story); lead != nil {
		w, err = pipeline.WorkerOf(r.Record, lead)
	}
	r.texts.Resumed = w.Plan(r.options.includeSpawn)
	r.texts.Prompt = w.Prompt(template, c.Store.Root())
	return err
}

// leadOf returns the newest record of the lead that knows a story, or nil.
func leadOf(c *invoke.Invocation, story string) *checkpoint.Record {
	defer c.Store.CacheRefs(c.Ctx)()
	issues, _, err := c.Store.Issues(c.Ctx, false)
	if err != nil {
		return nil
	}
	var lead *checkpoint.Record
	for _, i := range issues {
		_, r, err := c.Store.NewestValid(c.Ctx, i)
		if err == nil && pipeline.Leads(r, story) && (lead == nil || r.CreatedAt().After(lead.CreatedAt())) {
			lead = r
		}
	}
	return lead
}

// askAs asks the --as system's questions and, after a yes, the remaining questions. A no
// to the last question of the system archives the chain.
func askAs(c *invoke.Invocation, d *invoke.Dialog, r *resumption) (string, error) {
	r.foundShown = true
	if _, err := d.TTY.Write([]byte(r.texts.Found + reasonLines(r.Verdict))); err != nil {
		return "", err
	}
	if fresh, err := askFresh(c, d, r); err != nil || fresh {
		return "s", err
	}
	answer, err := d.Ask(r.texts.Question, map[string]string{"y": "y", "yes": "y", "n": "n", "no": "n", "": "y"})
	switch {
	case err != nil:
		return "", unanswered(r, r.answers("--yes"), err)
	case answer == "n":
		return "s", nil
	}
	return "r", askRest(c, d, r)
}

// askFresh offers to start fresh if the --as system guards against a corrupt or an old
// state. A corrupt state that a person keeps is not resumed.
func askFresh(c *invoke.Invocation, d *invoke.Dialog, r *resumption) (fresh bool, err error) {
	question := ""
	switch {
	case r.Verdict.Corrupt:
		question = r.texts.Corrupt
	case r.Verdict.Old:
		question = r.texts.Old
	}
	if question == "" {
		return false, nil
	}
	answer, err := d.Ask(question, invoke.YesNo)
	switch {
	case err != nil:
		return false, unanswered(r, r.answers("--yes"), err)
	case answer == "n" && r.Verdict.Corrupt:
		c.Infof("nothing is changed; %s resumes in spite of the findings", r.command(r.answers("--yes")))
		return false, failure.Silent{Code: failure.None}
	}
	return answer == "y", nil
}

// showResumedAs prints the result of a resume in the texts of the --as system.
func showResumedAs(c *invoke.Invocation, r *resumption) error {
	if found := strings.TrimSuffix(r.texts.Found, "\n"); found != "" && !r.foundShown {
		c.Infof("%s", strings.Split(found, "\n")[0])
	}
	c.Printf("%s", r.texts.Resumed)
	if next := r.NextText(); next != "" {
		c.Printf("Next: %s\n", view.Clean(next))
	}
	c.Printf("%s", view.Plain(r.ReasonRows(nil)))
	if r.restored != nil {
		showRestored(c, r.restored, r.options.dryRun)
	}
	showResumePoint(c, r)
	return nil
}

// screenResumed prints the result of a resume for people: the work, the files that were
// restored, and the point to continue at. The hint stands alone at the left margin, where no
// text of a checkpoint can stand.
func screenResumed(c *invoke.Invocation, at view.Screen, r *resumption) {
	cp := r.Checkpoint
	title, summary := view.Title(cp, r.Record, nil), r.Record.Doc().Text("context_summary")
	if summary == title {
		summary = ""
	}
	work.LookBeside(c, &r.Standing)
	saved := view.Row{Label: "Saved", Text: r.SavedText() + ": " + title}
	rows := slices.Concat(r.ProgressRows(), []view.Row{saved}, r.BesideRows(), view.Filled(
		view.Row{Label: "Summary", Text: summary},
		view.Row{Label: "Session", Text: r.Session.Text},
		view.Row{Label: "Conflicts", Text: view.List(r.Record.Conflicts())},
		view.Row{Label: "Attempt", Text: r.attemptText()},
	), r.ReasonRows(nil))
	if r.restored != nil {
		rows = append(rows, restoredRow(restoredFiles(c, r.restored, r.options.dryRun), r.options.dryRun))
	}
	if r.Verdict.At.Complete {
		rows = append(rows, view.Row{Label: "Continue", Text: view.NothingLeft, Style: view.Bold})
	} else if r.Verdict.At.Code != "" {
		rows = append(rows, view.Row{Label: "Continue", Text: r.ContinueFrom(), Style: view.Bold})
	}
	c.Printf("%s\n\n%s", at.Heading(r.Heading()), at.Sheet(rows))
	for k, hint := range append(undoHints(r.restored), r.changedHints()...) {
		if k == 0 {
			c.Infof("")
		}
		c.Infof("hint: %s", hint)
	}
}

// undoHints returns the command that takes a restore back, if it changed files.
func undoHints(done *gitstore.Restored) []string {
	if done == nil || done.Undo == "" {
		return nil
	}
	return []string{undoCommand(done)}
}

// changedHints returns the commands that merge or replace the files that the resume left because
// they changed since the checkpoint. A person who was asked about each file needs none.
func (r *resumption) changedHints() []string {
	if r.restored == nil || len(r.restored.Skipped) == 0 || r.changed != "" || len(r.each) > 0 {
		return nil
	}
	return []string{r.command("--changed merge"), r.command("--changed checkpoint")}
}

// restoredRow returns the row about the files of a restore, with a line for each kind of result.
func restoredRow(files []view.RestoredFile, dryRun bool) view.Row {
	paths := map[string][]string{}
	var kinds []string
	for _, f := range files {
		what := f.What + ":"
		switch f.Kind {
		case view.FileRestored:
			what = ""
		case view.FileRemoved:
			what = f.What
		}
		if paths[what] = append(paths[what], f.Path); len(paths[what]) == 1 && what != "" {
			kinds = append(kinds, what)
		}
	}
	const few = 8
	row := view.Row{Label: "Restored", Text: "no files"}
	if dryRun {
		row.Label = "Would restore"
	}
	if len(paths[""]) > 0 {
		row.Text = view.Files(paths[""], few)
	}
	for _, what := range kinds {
		row.Below = append(row.Below, what+" "+view.Files(paths[what], few))
	}
	return row
}
