// Package status has the command status.
package status

import (
	"cmp"
	"errors"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout/recovery"
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

// statusOptions are the flags of status.
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
		&cli.BoolFlag{Name: "strict", Usage: "with --check: exit with 9 if there are warnings", Destination: &o.judge.Strict},
		o.judge.Issue.FileFlag("compare with the issue in `FILE`"),
		o.judge.Issue.OfflineFlag(),
		invoke.ColorFlag(&o.color),
	)
}

func runStatus(c *invoke.Invocation, o *statusOptions) error {
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

// printStatus prints the status of the issue, or an overview of several.
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

// statusDone returns the exit status of --done.
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

// verdictCode returns the exit code of a verdict.
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
