package resume

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/internal/standing"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/pipeline"
	"git-checkpoint/gitstore/retention"
)

// showResumed prints the resumed checkpoint. The last line on standard output is the
// resume point.
func showResumed(c *invoke.Invocation, r *resumption) error {
	if c.JSON || r.options.print == "env" {
		return showOutcome(c, r)
	}
	if r.options.print == "prompt" {
		c.Printf("%s", cmp.Or(r.texts.Prompt, standing.Prompt(r.Judged, r.promptMore(c), c.Env.Now(), standing.BytesPerToken*r.options.maxTokens)))
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

// plainResumed prints the resumed checkpoint in the form for scripts.
func plainResumed(c *invoke.Invocation, r *resumption) {
	c.Printf("%s\n", output.Clean(fmt.Sprintf("%s, from %s (%s)", standing.Heading(r.Checkpoint, r.Record), r.Checkpoint.ID, phrase.Ago(r.Record.CreatedAt(), c.Env.Now())+standing.ByOther(c, r.Checkpoint))))
	standing.ShowWentBack(c, r.Point)
	standing.ShowParallel(c, r.notHere(c))
	c.Printf("Progress: %s\n", output.Clean(standing.ProgressLine(r.Record)))
	standing.ShowPhases(c, r.Record)
	standing.ShowTasks(c, r.Record)
	standing.ShowNext(c, r.Verdict)
	if n := r.attempt(); n > 1 {
		c.Printf("Attempt: %d\n", n)
	}
	standing.ShowReasons(c, r.Verdict)
	if r.restored != nil {
		showRestored(c, r.restored, r.options.dryRun)
	}
	standing.ShowSession(c, r.Record)
	if ids := r.Record.Conflicts(); len(ids) > 0 {
		c.Printf("Conflicts in progress: %s\n", output.Clean(phrase.List(ids)))
	}
	showResumePoint(c, r)
}

// showResumePoint prints the last line of a resume.
func showResumePoint(c *invoke.Invocation, r *resumption) {
	if r.isComplete() {
		c.Printf("%s\n", standing.NothingLeft)
		return
	}
	c.Printf("%s\n", output.Clean(standing.ResumePoint(r.Judged)))
}

// showOutcome prints the output for scripts: the JSON record or the variables.
func showOutcome(c *invoke.Invocation, r *resumption) error {
	if c.JSON {
		if r.options.ci {
			printEnv(c, r)
		}
		out := resumeRecord(c, r)
		out.Warnings = append(out.Warnings, c.TakeWarnings()...)
		return c.WriteJSON(out)
	}
	if r.options.print == "env" {
		printEnv(c, r)
		ciWarnings(c, r)
	}
	return nil
}

// notHere returns the checkpoints that were saved in parallel and whose files are not here.
func (r *resumption) notHere(c *invoke.Invocation) []gitstore.NotHere {
	return standing.NotHere(c, r.Checkpoint.Issue, r.Checkpoint.ID)
}

// promptMore returns the facts that the resume adds to the prompt.
func (r *resumption) promptMore(c *invoke.Invocation) standing.PromptMore {
	more := standing.HandOverFacts(c, r.Judged, "")
	more.Attempt = r.attempt()
	if r.restored != nil {
		more.Skipped = r.restored.Skipped
	}
	return more
}

func resumeRecord(c *invoke.Invocation, r *resumption) output.Resume {
	out := output.Resume{Status: standing.Status("resume", r.Checkpoint, r.Record, r.Verdict), DryRun: r.options.dryRun}
	out.Action, out.Complete, out.WentBack = r.action(), r.isComplete(), standing.WentBackRecord(r.Point)
	out.Parallel = standing.ParallelRecords(r.notHere(c))
	out.LabelsAdded, out.LabelsRemoved = r.synced.Add, r.synced.Remove
	standing.AddSession(c, &out.Status, r.Record)
	if data, err := r.Record.JSON(); err == nil {
		out.Checkpoint = json.RawMessage(data)
	}
	out.PhaseAttempt = r.attempt()
	out.Earlier = []output.EarlierFile{}
	if r.restored != nil {
		out.Restored, out.Undo = phrase.QuotePaths(r.restored.Restored), r.restored.Undo
		out.Removed = phrase.QuotePaths(r.restored.Removed)
		out.Conflicts, out.Earlier = phrase.QuotePaths(r.restored.Merged), earlierRecords(r.restored)
	}
	return out
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

// isComplete reports whether nothing is left to do.
func (r *resumption) isComplete() bool {
	return r.Verdict.At.Complete
}

// actionNone is the action if no checkpoint exists, or if a CI job has nothing to do.
const actionNone = "none"

// printEnv prints a checkpoint's variables for shell evaluation. SKIP_TO_PHASE is set only
// if work resumes.
func printEnv(c *invoke.Invocation, r *resumption) {
	at, skip := standing.Of(r.Record, r.Verdict), ""
	if r.resumed || r.chosen == "" && r.Verdict.Action <= freshness.ProceedWithWarning {
		skip = at.Phase
	}
	vars := variables{
		action: r.action(), id: string(r.Checkpoint.ID), from: standing.ResumePoint(r.Judged),
		phase: at.Phase, completed: strings.Join(at.Completed, ","), skip: skip,
		next:  r.Verdict.Next.Action,
		paths: string(standing.WorkflowJSON(r.Record, "artifact_paths")), context: string(standing.WorkflowJSON(r.Record, "context_metadata")),
	}
	if r.isComplete() {
		vars.complete, vars.from, vars.phase, vars.skip, vars.next = true, "", "", "", ""
	}
	setVariables(c, r, vars)
}

// printNone prints the variables of an issue without checkpoints in its chain. The work is
// complete if its checkpoints are archived as completed.
func printNone(c *invoke.Invocation, r *resumption, issue checkpoint.Issue) {
	filed, err := c.Store.Ended(c.Ctx, issue)
	if err != nil {
		c.Warnf("%v", err)
	}
	r.archived = filed.Why
	setVariables(c, r, variables{action: actionNone, complete: r.archived == retention.ReasonCompleted})
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
		if !c.JSON {
			c.Printf("%s=%s\n", v.Name, output.Shell(v.Value))
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
		r.texts, err = layout.TextsOf(as, r.Record)
	}
	if err != nil {
		return exit.Errorf(exit.Usage, "git checkpoint resume "+phrase.IssueArg(r.Checkpoint.Issue), "resume %s --as %s: %w", r.Checkpoint.ID, as, err)
	}
	return nil
}

// speakOfWorker sets the texts of a pipeline worker, including the state of its lead.
func speakOfWorker(c *invoke.Invocation, r *resumption) error {
	template := ""
	if name := r.options.template; name != "" {
		data, err := c.ReadInput(name)
		if err != nil {
			return err
		}
		template = output.CleanBlock(string(data))
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

// yesByDefault maps the answers to a question whose default is yes.
var yesByDefault = map[string]string{"y": "y", "yes": "y", "n": "n", "no": "n", "": "y"}

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
	answer, err := d.Ask(r.texts.Question, yesByDefault)
	switch {
	case err != nil:
		return "", unanswered(c, r, r.answers("--yes"), err)
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
		return false, unanswered(c, r, r.answers("--yes"), err)
	case answer == "n" && r.Verdict.Corrupt:
		c.Infof("nothing is changed; %s resumes in spite of the findings", r.command(r.answers("--yes")))
		return false, exit.Silent{Code: exit.None}
	}
	return answer == "y", nil
}

// showResumedAs prints the result of a resume in the texts of the --as system.
func showResumedAs(c *invoke.Invocation, r *resumption) error {
	if found := strings.TrimSuffix(r.texts.Found, "\n"); found != "" && !r.foundShown {
		c.Infof("%s", strings.Split(found, "\n")[0])
	}
	c.Printf("%s", r.texts.Resumed)
	standing.ShowNext(c, r.Verdict)
	standing.ShowReasons(c, r.Verdict)
	if r.restored != nil {
		showRestored(c, r.restored, r.options.dryRun)
	}
	showResumePoint(c, r)
	return nil
}
