// Package status has the command status.
package status

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout/recovery"

	"github.com/urfave/cli/v2"
)

// StatusCommand declares git checkpoint status.
var StatusCommand = invoke.Command{
	Name: "status", Usage: "show the progress and the verdict of resume", Args: "[ISSUE]", Max: 1, Category: "Look",
	Everyday: true, ShortHelp: []string{"check", "short"},
	Description: "Changes nothing. Exits with 0, or with 3 if there is no checkpoint. With --check the\n" +
		"exit code is that of the verdict: 0 resume, 4 start fresh, 5 a person must answer.\n" +
		"After `finish` it prints the result of the work, until new work begins. With --check it\n" +
		"then exits with 3, because nothing can be resumed.",
	Examples: []string{
		"git checkpoint status",
		"git checkpoint status 42 --check --strict",
		"git checkpoint status --description 'sign in with a key' --json",
		"git checkpoint status 42 --done 3 || run-phase 3",
		"git checkpoint status --short 2>/dev/null",
		"git checkpoint status --watch",
	},
	ReadsOnly: true,
	New:       invoke.Bind((*statusOptions).flags, runStatus),
}

type statusOptions struct {
	check       bool
	done        string // phase of --done, or ""
	description string // text that finds the workflow, or ""
	forPlan     string // plan that finds the workflow, or ""
	workflow    progress.Query
	short       bool
	watch       bool // print it again whenever it changes
	markdown    bool
	color       string
	judge       work.JudgeOptions
}

func (o *statusOptions) flags() []cli.Flag {
	return append(
		work.WorkflowFlags(&o.workflow),
		&cli.BoolFlag{Name: "check", Usage: "exit with the verdict", Destination: &o.check},
		&cli.StringFlag{Name: "done", Usage: "exit with 0 if phase `N` is done or skipped, else with 1", Destination: &o.done},
		&cli.StringFlag{Name: "description", Usage: "find the issue of the workflow with the description `TEXT`", Destination: &o.description},
		&cli.StringFlag{Name: "for-plan", Usage: "find the issue of the workflow whose plan is `FILE`", Destination: &o.forPlan},
		&cli.BoolFlag{Name: "short", Usage: "print one line for a shell prompt, or nothing if there is no checkpoint", Destination: &o.short},
		&cli.BoolFlag{Name: "watch", Usage: "print the status again whenever it changes, until Ctrl+C", Destination: &o.watch},
		&cli.BoolFlag{Name: "markdown", Usage: "print Markdown for a comment on the issue", Destination: &o.markdown},
		&cli.StringFlag{Name: "by", Usage: "`NAME` of the command that would resume, checked against resume.compat", Destination: &o.judge.By},
		&cli.BoolFlag{Name: "strict", Usage: "exit with the verdict, and with 9 if there are warnings", Destination: &o.judge.Strict},
		o.judge.Issue.FileFlag("compare with the issue in `FILE`"),
		o.judge.Issue.OfflineFlag(),
		invoke.ColorFlag(&o.color),
	)
}

func runStatus(c *invoke.Invocation, o *statusOptions) error {
	o.check = o.check || o.judge.Strict
	o.judge.Look, o.judge.Issue.Recent = &gitstore.Look{}, !o.check && !c.Line.JSON
	if o.watch {
		return watch(c, o)
	}
	if err := c.Open(); err != nil {
		return err
	}
	if o.short {
		return statusShort(c)
	}
	return printStatus(c, o)
}

func printStatus(c *invoke.Invocation, o *statusOptions) error {
	issue, err := statusIssue(c, o)
	if o.done != "" && err != nil && failure.Classify(err).Code == failure.None {
		return failure.Silent{Code: failure.Failure}
	}
	var several *invoke.SeveralIssuesError
	if errors.As(err, &several) && o.done == "" && !o.check && !o.markdown {
		return statusOverview(c, several.Last, o.color)
	}
	if err != nil {
		return err
	}
	p, r, err := c.Store.PointRecord(c.Ctx, issue)
	var ending *view.Ending
	if none := (*gitstore.NoneError)(nil); errors.As(err, &none) {
		ending = work.EndingOf(c, none.Issue)
	}
	switch {
	case o.done != "":
		return statusDone(r, ending, o.done, err)
	case ending != nil:
		if err := showEnding(c, o, ending); err != nil {
			return err
		}
		if o.check {
			return failure.Silent{Code: failure.None} // nothing can be resumed
		}
		return nil
	case err != nil:
		return err
	}
	s, err := work.Judge(c, p.Checkpoint, r, o.judge)
	if err != nil {
		return err
	}
	s.Point = p
	work.LookBeside(c, s)
	if err := showStatus(c, o, s); err != nil {
		return err
	}
	if o.check {
		return verdictCode(s.Verdict)
	}
	return nil
}

// statusOverview prints the progress of the issues that were saved last, one line an issue.
func statusOverview(c *invoke.Invocation, last gitstore.LastSaved, color string) error {
	summaries, others := work.Overview(c, last), last.Others
	if failed := work.FailedPushes(c); len(failed) > 0 {
		c.Warnf("not pushed: %s; git checkpoint status %s says why", view.List(view.Few(view.Strings(failed), 3)), view.IssueArg(failed[0]))
	}
	if c.Line.JSON {
		return c.WriteJSON(view.StatusOverview{Status: view.Status{Type: "status"}, Issues: summaries, OtherIssues: others})
	}
	return work.ShowOverview(c, summaries, others, color)
}

func statusDone(r *checkpoint.Record, ending *view.Ending, phase string, err error) error {
	var none *gitstore.NoneError
	over := false
	switch {
	case ending != nil:
		over = ending.IsCompleted() && (ending.Record == nil || progress.IsOver(ending.Record, phase))
	case errors.As(err, &none):
	case err != nil:
		return err
	default:
		over = progress.IsOver(r, phase)
	}
	if !over {
		return failure.Silent{Code: failure.Failure}
	}
	return nil
}

func verdictCode(v freshness.Verdict) error {
	switch {
	case v.Files.Damaged != "":
		return failure.Silent{Code: failure.Invalid}
	case v.Action == freshness.StartFresh:
		return failure.Silent{Code: failure.StartFresh}
	case v.Action == freshness.PromptUser:
		return failure.Silent{Code: failure.NeedsAnswer}
	case v.Stale:
		return failure.Silent{Code: failure.Stale}
	}
	return nil
}

func showEnding(c *invoke.Invocation, o *statusOptions, e *view.Ending) error {
	if c.Line.JSON {
		out := view.StatusOfEnding(e)
		out.Warnings = append(out.Warnings, c.TakeWarnings()...)
		return c.WriteJSON(out)
	}
	rows := e.Rows(c.Env.Now())
	if o.markdown {
		c.Printf("**Issue %s**\n\n%s", view.Code(strings.TrimPrefix(e.Heading(), "Issue ")), view.Markdown(rows))
		return nil
	}
	at, people, err := c.Screen(o.color)
	switch {
	case err != nil:
		return err
	case people:
		c.Printf("%s", e.Screen(at, rows))
	default:
		c.Printf("%s\n%s", view.Clean(e.Heading()), view.Plain(rows))
		c.Infof("hint: %s", e.Hint())
	}
	return nil
}

// statusIssue returns the named issue, or the issue of the workflow that --type,
// --description or --for-plan matches.
func statusIssue(c *invoke.Invocation, o *statusOptions) (checkpoint.Issue, error) {
	text, plan := o.description, o.forPlan
	named := len(c.Line.Args) > 0 || c.Line.Common.Issue != ""
	switch {
	case o.workflow.Type != "" && (text != "" || plan != "") || text != "" && plan != "", (text != "" || plan != "") && named:
		return "", failure.Usagef("status: --type, --description and --for-plan find the issue: name one of them and no issue")
	case text == "" && plan == "":
		if err := work.NameByWorkflow(c, o.workflow); err != nil {
			return "", err
		}
		return c.Issue()
	}
	q := progress.Query{Text: text}
	if plan != "" {
		q.Plan = plan
		if place, err := c.RootPath(plan); err == nil {
			q.Plan = place
		}
		for _, p := range []string{plan, filepath.ToSlash(plan), q.Plan} {
			q.IDs = append(q.IDs, recovery.PlanIDs(p)...)
		}
		q.IDs = append(q.IDs, plan)
	}
	return work.FindWorkflow(c, q, cmp.Or(text, plan))
}

// showStatus prints the standing of the work in the form that the flags ask for.
func showStatus(c *invoke.Invocation, o *statusOptions, s *view.Standing) error {
	if c.Line.JSON {
		out := s.StatusRecord("status")
		out.Warnings = append(out.Warnings, c.TakeWarnings()...)
		return c.WriteJSON(out)
	}
	if o.markdown {
		c.Printf("%s", s.StatusMarkdown())
		return nil
	}
	at, people, err := c.Screen(o.color)
	if err != nil {
		return err
	}
	if people && c.Line.Common.Verbose {
		defer c.Page()()
	}
	text := s.StatusPlain(c.Line.Common.Verbose)
	if people {
		text = s.StatusScreen(at, c.Line.Common.Verbose)
	}
	c.Printf("%s", text)
	if c.Line.Common.Verbose {
		return cmp.Or(showDiffs(c, s), showCoverage(c, s.Record))
	}
	return nil
}

// showCoverage prints the changed files that the checkpoint lacks, because a user may
// expect a copy of all changed files.
func showCoverage(c *invoke.Invocation, r *checkpoint.Record) error {
	if c.Store.Root() == "" {
		return nil
	}
	changed, err := c.Store.Files.Uncommitted(c.Ctx)
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for _, f := range r.Files() {
		have[f.Path] = true
	}
	notSaved := slices.DeleteFunc(slices.Clone(changed), func(path string) bool { return have[path] })
	c.Printf("Coverage: %d of %d changed files are in the checkpoint\n", len(changed)-len(notSaved), len(changed))
	for _, path := range notSaved {
		c.Printf("  not in it: %s\n", view.QuotePath(path))
	}
	return nil
}

// showDiffs prints issue body and file differences since the checkpoint.
func showDiffs(c *invoke.Invocation, s *view.Standing) error {
	for _, r := range s.Verdict.Reasons {
		for _, line := range r.Diff {
			c.Printf("%s\n", view.Clean(line))
		}
	}
	for _, path := range s.Verdict.Files.Changed {
		diff, err := c.Store.Files.Diff(c.Ctx, s.Checkpoint, path)
		if err != nil {
			return err
		}
		c.Printf("%s\n%s", view.QuotePath(path), view.CleanBlock(diff))
	}
	return nil
}

// statusShort prints one line for the prompt of a shell or an editor. It reads no issue
// source and computes no verdict. Without a checkpoint it prints nothing.
func statusShort(c *invoke.Invocation) error {
	for _, other := range []string{"check", "done", "description", "for-plan", "markdown", "json"} {
		if c.Line.Flags.IsSet(other) {
			return failure.Usagef("status: --short cannot be combined with --%s", other)
		}
	}
	issue, err := c.Issue()
	if err != nil && len(c.Line.Args) == 0 {
		return failure.Silent{Code: failure.None} // the branch belongs to no issue
	}
	if err != nil {
		return err
	}
	cp, r, err := c.Store.PointRecord(c.Ctx, issue)
	if errors.As(err, new(*gitstore.NoneError)) {
		return failure.Silent{Code: failure.None}
	}
	if err != nil {
		return err
	}
	p, words := r.Progress(), []string{string(issue)} // such as "42 implementing 2/5 12m"
	if phase := cmp.Or(p.Current, r.Phase()); phase != "" && !progress.Complete(r) {
		words = append(words, phase)
	}
	if p.Total > 0 {
		words = append(words, fmt.Sprintf("%d/%d", len(p.Completed)+len(p.Skipped), p.Total))
	}
	words = append(words, view.Briefly(cp.Created, c.Env.Now()))
	if !r.CanResume() {
		words = append(words, "!")
	}
	c.Printf("%s\n", view.Clean(strings.Join(words, " ")))
	return nil
}
