// Package resume has the commands that continue work: resume and restore.
package resume

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/freshness"
	"git-checkpoint/freshness/issue/forge"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/retention"

	"github.com/urfave/cli/v2"
)

// ResumeCommand declares git checkpoint resume.
var ResumeCommand = invoke.Command{
	Name: "resume", Usage: "check the newest checkpoint, restore its files and continue", Args: "[ISSUE] [ID]", Max: 2, Category: "Resume",
	Everyday: true, ShortHelp: []string{"yes", "branch", "worktree", "dry-run", "ci"},
	Examples: []string{
		"git checkpoint resume",
		"git checkpoint resume 42 latest~1 --dry-run",
		"git checkpoint resume 42 --branch feature/issue-42-jwt",
		"git checkpoint resume 42 --auto --json",
		"git checkpoint resume 42 --to codex --start",
	},
	Description: "The last line on standard output is the resume point, if the work has one, or with --to\n" +
		"the command that starts the other agent. Its hook gives it the state of the work. Without\n" +
		"a terminal only a verdict of prompt_user needs an answer: --yes, --choice or --force\n" +
		"give it. A phase that waits for an approval needs --approve beside them. If HEAD is\n" +
		"on another branch than the checkpoint's, --branch is the answer. If this clone has\n" +
		"no checkpoint of the issue, resume fetches first, and switches to the branch after\n" +
		"one question or --yes.",
	ReadsOnly: true, ChangesFiles: true,
	New: invoke.Bind((*resumeOptions).flags, runResume),
}

type resumeOptions struct {
	ci, files, noFiles bool
	yes                bool
	auto               bool   // --auto is given
	choice             string // r, s, v or d, or ""; --yes means r
	as                 layout.Name
	template           string // file of a worker's prompt, or ""
	includeSpawn       bool
	print              string // text, json, env or prompt
	maxTokens          int    // limit of a prompt, or 0
	changed            string // version of changed files to keep: mine, checkpoint or merge; or ""
	dryRun             bool
	fallback           bool   // resume from the newest valid checkpoint
	retry              bool   // count another attempt of the phase
	worktree           string // path of a new worktree, or ""
	force              bool
	syncIssue          bool   // write the labels of the checkpoint to the issue
	to                 string // agent whose command is printed, or ""
	start              bool   // with to: run the command
	judge              work.JudgeOptions
	workflow           progress.Query
}

func (o *resumeOptions) flags() []cli.Flag {
	ci := []cli.Flag{
		&cli.BoolFlag{Name: "ci", Usage: "for a CI job: fetch first, ask no question, print variables; exit with 0 if there is no checkpoint", Destination: &o.ci},
		&cli.BoolFlag{Name: "files", Usage: "with --ci: also restore files", Destination: &o.files},
	}
	return append(append(ci, work.WorkflowFlags(&o.workflow)...),
		&cli.BoolFlag{Name: "yes", Usage: "resume without a question", Destination: &o.yes},
		&cli.StringFlag{Name: "choice", Usage: "answer the prompt: `r`, s, v or d", Destination: &o.choice},
		&cli.BoolFlag{Name: "auto", Usage: "resume only if no question needs an answer", Destination: &o.auto},
		&cli.StringFlag{Name: "as", Usage: "use the texts of another system, of `LAYOUT`: " + view.OneOf(layout.Names()), Destination: (*string)(&o.as)},
		&cli.StringFlag{Name: "template", Usage: "with --as pipeline: template `FILE` of a worker's prompt, with {story}, {stage}, {business_answers}, {worktree}, {project_root}", Destination: &o.template},
		&cli.BoolFlag{Name: "include-spawn", Usage: "with --as pipeline: also print the mode of a new worker", Destination: &o.includeSpawn},
		&cli.StringFlag{Name: "print", Usage: "print the result as `text`, json, env or prompt", Value: "text", Destination: &o.print},
		&cli.IntFlag{Name: "max-tokens", Usage: "with --print prompt: leave out less important lines above about `N` tokens", Destination: &o.maxTokens},
		changedFlag(&o.changed),
		&cli.BoolFlag{Name: "no-files", Usage: "restore no files", Destination: &o.noFiles},
		&cli.BoolFlag{Name: "dry-run", Usage: "print the actions without doing them", Destination: &o.dryRun},
		&cli.BoolFlag{Name: "fallback", Usage: "use the newest valid checkpoint", Destination: &o.fallback},
		&cli.BoolFlag{Name: "strict", Usage: "exit with 9 if there are warnings", Destination: &o.judge.Strict},
		&cli.BoolFlag{Name: "retry", Usage: "begin the phase again: the next save counts another attempt", Destination: &o.retry},
		&cli.GenericFlag{Name: "approve", Usage: "approve `PHASE`, which waits for an approval", Value: (*invoke.List)(&o.judge.Approve)},
		&cli.StringFlag{Name: "by", Usage: "`NAME` of the command that continues the work, checked against resume.compat", Destination: &o.judge.By},
		&cli.StringFlag{Name: "branch", Usage: "switch to `BRANCH` and resume there; the current branch means here", Destination: &o.judge.Branch},
		&cli.StringFlag{Name: "worktree", Usage: "resume in the worktree `DIR`, which is made if it does not exist", Destination: &o.worktree},
		&cli.BoolFlag{Name: "force", Usage: "resume despite the verdict, at any HEAD", Destination: &o.force},
		o.judge.Issue.FileFlag("compare with the issue in `FILE`"),
		o.judge.Issue.OfflineFlag(),
		&cli.StringFlag{Name: "to", Usage: "then print the command with which `AGENT` goes on, such as codex", Destination: &o.to},
		&cli.BoolFlag{Name: "start", Usage: "with --to: run the command, and exit with its code", Destination: &o.start},
		&cli.BoolFlag{Name: "sync-issue", Usage: "write the checkpoint's labels back to the issue, on its forge or in its file", Destination: &o.syncIssue},
	)
}

type resumption struct {
	view.Standing
	options    *resumeOptions
	source     work.IssueAnswer // current issue
	texts      layout.Texts     // texts of --as
	foundShown bool             // texts.Found is printed
	named      bool             // the command line named the checkpoint
	chosen     string           // s or d if chosen, otherwise ""
	switched   gitstore.Switch  // to another branch
	resumed    bool             // work resumes, in spite of the verdict and of later errors
	changed    gitstore.Changed
	each       map[string]gitstore.Changed // answers for single files
	restored   *gitstore.Restored
	synced     forge.LabelChange // labels that were written to the issue

	approvals []gitstore.Approval
	retries   int        // retries of this checkpoint since the last save, including this resume
	vars      []Variable // variables that were printed, or nil

	ended    bool             // the work is complete, and nothing was asked or restored
	archived retention.Reason // reason for which the last checkpoint was archived, or ""
}

func runResume(c *invoke.Invocation, o *resumeOptions) error {
	if o.ci {
		return resumeCI(c, o)
	}
	if err := o.check(c); err != nil {
		return err
	}
	if err := c.Open(); err != nil {
		return err
	}
	if err := work.NameByWorkflow(c, o.workflow); err != nil {
		return err
	}
	if err := fetchUnknown(c, o); err != nil {
		return err
	}
	r := &resumption{options: o, Standing: view.Standing{Now: c.Env.Now()}}
	place, err := moveToWorktree(c, o)
	if err != nil {
		err = corrupted(c, r, noResumption(c, r, err))
	} else {
		err = resumeOpened(c, r)
	}
	if err != nil {
		switchBack(c, r)
	}
	if err != nil && place.Created && !r.resumed {
		if failed := c.Store.Facts.RemoveWorktree(context.WithoutCancel(c.Ctx), place); failed != nil { // files in it have changed
			c.Warnf("%s stays: %v", view.Shell(place.Dir), failed)
		} else {
			c.Infof("removed worktree %s again", view.Shell(place.Dir))
		}
	}
	return err
}

func resumeOpened(c *invoke.Invocation, r *resumption) error {
	err := toResume(c, r)
	if err != nil {
		return corrupted(c, r, noResumption(c, r, err))
	}
	// A named checkpoint or a choice on the command line resumes complete work too.
	if o := r.options; !r.named && o.choice == "" && !o.force && !o.retry && !o.syncIssue && r.Verdict.At.Complete {
		return showNothingToDo(c, r)
	}
	choice := r.options.choice
	if choice == "" {
		choice, err = choose(c, r)
	} else if choice == "r" {
		err = gate(c, r)
	}
	if err != nil {
		return err
	}
	return act(c, r, choice)
}

func act(c *invoke.Invocation, r *resumption, choice string) error {
	switch choice {
	case "s":
		return startFresh(c, r)
	case "d":
		return deleteChain(c, r)
	case "v":
		return viewChoice(c, r)
	}
	return resume(c, r)
}

// check checks the flags, and sets the choice and the output that they imply.
func (o *resumeOptions) check(c *invoke.Invocation) error {
	o.judge.Auto, o.judge.IssueFollows, o.judge.Look = o.auto || o.ci, o.syncIssue, &gitstore.Look{}
	o.judge.FilesAnswered, o.judge.LeavesFiles = o.changed != "" || o.judge.Auto, o.leavesFiles()
	if _, err := gitstore.ParseChanged(o.changed); err != nil {
		return failure.Usagef("resume: --changed: %w", err)
	}
	if !slices.Contains([]string{"text", "json", "env", "prompt"}, o.print) {
		return failure.Usagef("resume: --print: %q: want text, json, env or prompt", o.print)
	}
	if c.Line.Flags.IsSet("max-tokens") && o.maxTokens < view.FewestTokens {
		return failure.Usagef("resume: --max-tokens: %d is less than the %d that say where to go on", o.maxTokens, view.FewestTokens)
	}
	if o.print == "json" {
		c.Line.JSON = true
	}
	if err := o.checkStart(c); err != nil {
		return err
	}
	if err := c.CheckLayout(o.as); err != nil {
		return err
	}
	if o.choice != "" && !slices.Contains([]string{"r", "s", "v", "d"}, o.choice) {
		return failure.Usagef("resume: --choice: %q: want r, s, v or d", o.choice)
	}
	if o.yes {
		if o.choice != "" && o.choice != "r" {
			return failure.Usagef("resume: --yes is --choice r, got --choice %s too", o.choice)
		}
		o.choice = "r"
	}
	if o.choice == "v" && (c.Line.JSON || o.print != "text") {
		// A shell that evaluates the output would execute the record's text.
		return failure.Usagef("resume: --choice v shows the record as text, and programs read the output: git checkpoint show does that")
	}
	return nil
}

func toResume(c *invoke.Invocation, r *resumption) error {
	o := r.options
	r.changed = gitstore.Changed(o.changed)
	var err error
	if err = toGoOnFrom(c, r); err != nil {
		return err
	}
	for _, phase := range r.options.judge.Approve {
		if !slices.Contains(r.Record.Awaiting(), phase) {
			return failure.Usagef("resume: --approve: phase %q of %s waits for no approval", phase, r.Checkpoint.ID)
		}
		r.approvals = append(r.approvals, gitstore.Approval{Phase: phase, At: c.Env.Now()})
	}
	r.named = len(c.Line.Args) > 0 && c.Line.Args[len(c.Line.Args)-1] != string(r.Checkpoint.Issue)
	if err := goToBranch(c, r); err != nil {
		return err
	}
	r.retries = c.Store.Resumed(r.Checkpoint).Retries
	if o.retry {
		r.retries++
	}
	if r.source, err = work.Rejudge(c, &r.Standing, o.judge); err != nil {
		return err
	}
	return speak(c, r)
}

// toGoOnFrom sets the checkpoint and its record: that of the command line, otherwise the one
// from which the work goes on. With --fallback it is the newest valid checkpoint, if the work
// cannot go on from that one.
func toGoOnFrom(c *invoke.Invocation, r *resumption) (err error) {
	fallback := r.options.fallback
	if fallback && len(c.Line.Args) > 1 {
		return failure.Usagef("resume: --fallback takes no checkpoint, got %q", c.Line.Args[1])
	}
	if r.Checkpoint, r.Point, err = c.PointArg(); err != nil {
		return err
	}
	if !fallback {
		r.Record, err = c.Store.ValidRecord(r.Checkpoint)
		return err
	}
	point := r.Checkpoint
	if r.Checkpoint, r.Record, err = c.Store.NewestIntact(c.Ctx, point.Issue); err != nil {
		return err
	}
	trouble := point.Name() + " is not valid"
	if r.Record.WriteInterrupted() {
		trouble = "a write of the state in " + point.Name() + " was interrupted"
		if err := toSafeWrite(c, r); err != nil {
			return err
		}
	}
	if r.Checkpoint.ID != point.ID {
		r.Point = nil
		c.Warnf("%s; this is %s", trouble, r.Checkpoint.ID)
	}
	return nil
}

// toSafeWrite sets the newest valid checkpoint whose state was written completely. Without such a
// checkpoint, the present one stays.
func toSafeWrite(c *invoke.Invocation, r *resumption) error {
	l, err := c.Store.List(c.Ctx, r.Checkpoint.Issue, 0)
	if err != nil {
		return err
	}
	for i := range l.Checkpoints {
		record, err := c.Store.ValidRecord(&l.Checkpoints[i])
		if err == nil && !record.WriteInterrupted() {
			r.Checkpoint, r.Record = &l.Checkpoints[i], record
			return nil
		}
	}
	return nil
}

// noResumption prints variables for a resume without checkpoint, if a shell evaluates the
// output.
func noResumption(c *invoke.Invocation, r *resumption, err error) error {
	var none *gitstore.NoneError
	if errors.As(err, &none) && r.options.print == "env" {
		printNone(c, r, none.Issue)
	}
	return err
}

func resume(c *invoke.Invocation, r *resumption) error {
	if err := stopResume(c, r); err != nil {
		return err
	}
	plan, err := planSync(c, r)
	if err != nil {
		return err
	}
	o, begun := r.options, false
	take := func() error {
		begun = true
		return restoreAndRecord(c, r)
	}
	if o.dryRun || c.Store.Root() == "" {
		err = take()
	} else {
		err = c.Store.Restorer.Operate(c.Ctx, gitstore.OperationStart{Command: "resume", Issue: r.Checkpoint.Issue, From: r.switched.From, Made: r.switched.Made}, take)
	}
	switch {
	case o.onlyPrints(err):
		c.Warnf("nothing is restored or recorded: %v", err)
		o.dryRun = true
		return resume(c, r)
	case err != nil && !begun:
		return r.notRestored(fmt.Errorf("restore %s: %w", r.Checkpoint.ID, err))
	case err != nil:
		return err
	}
	r.resumed = !o.dryRun
	err = syncLabels(c, r, plan)
	return cmp.Or(showResumed(c, r), err, work.Conflicts(c.Line.Name, r.restored), giveTo(c, r))
}

func restoreAndRecord(c *invoke.Invocation, r *resumption) (err error) {
	o := r.options
	if !o.leavesFiles() && c.Store.Root() != "" {
		t := c.TickFiles("resume: writing files")
		r.restored, err = c.Store.Restore(c.Ctx, gitstore.RestoreRequest{
			Checkpoint: r.Checkpoint, Look: o.judge.Look, AnyHead: o.force, AnyBranch: true, // the verdict and gate cover the branch
			Request: gitstore.RestoreOptions{Changed: r.changed, Each: r.each, DryRun: o.dryRun},
		})
		t.End()
		if o.onlyPrints(err) {
			return err
		}
		if err != nil {
			return r.notRestored(err)
		}
		tellMerge(c, r.restored)
		c.WarnLocalCommits(r.Checkpoint)
	}
	if !o.dryRun && c.Store.Root() != "" {
		now := gitstore.Resumption{Stale: r.Verdict.Old, Approved: r.approvals}
		if o.retry {
			now.Retries = 1
		}
		err := c.Store.SetResumed(r.Checkpoint, now)
		if o.onlyPrints(err) {
			return err
		}
		if err != nil {
			if r.restored == nil || r.restored.Undo == "" {
				return fmt.Errorf("record the resume of %s: %w", r.Checkpoint.ID, err)
			}
			return failure.Errorf(failure.Failure, undoCommand(r.restored), "the files of %s are restored, but the resume is not recorded: %w", r.Checkpoint.ID, err)
		}
	}
	return nil
}

// onlyPrints reports whether the prompt for an agent is printed in spite of an error: the
// sandbox of an agent can make the repository read-only.
func (o *resumeOptions) onlyPrints(err error) bool {
	return o.print == "prompt" && failure.IsReadOnly(err)
}

// notRestored returns the error of a refused restore. If HEAD is the reason, --force is
// among the hints.
func (r *resumption) notRestored(err error) error {
	for _, reason := range r.Verdict.Reasons {
		if refused := failure.Classify(err); reason.Check == "head" && reason.Action == freshness.PromptUser && refused.Code == failure.Refused {
			return failure.Errorf(refused.Code, withForce(r, refused.Hint), "resume: %w", err)
		}
	}
	return fmt.Errorf("resume: %w", err)
}
