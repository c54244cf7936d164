// Package status has the command status.
package status

import (
	"cmp"
	"errors"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/issuesource"
	"git-checkpoint/commands/internal/judge"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/internal/standing"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"

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
	},
	Flags:     statusFlags,
	ReadsOnly: true,
	Run:       runStatus,
}

// statusOptions are the flags of status.
type statusOptions struct {
	check       bool
	done        string // phase of --done, or ""
	description string // text that finds the workflow, or ""
	forPlan     string // plan that finds the workflow, or ""
	short       bool
	markdown    bool
	color       string
	judge       judge.Options
}

func statusFlags() []cli.Flag {
	return append(
		standing.WorkflowFlags(),
		&cli.BoolFlag{Name: "check", Usage: "exit with the verdict"},
		&cli.StringFlag{Name: "done", Usage: "exit with 0 if phase `N` is done or skipped, else with 1"},
		&cli.StringFlag{Name: "description", Usage: "find the issue of the workflow with the description `TEXT`"},
		&cli.StringFlag{Name: "for-plan", Usage: "find the issue of the workflow whose plan is `FILE`"},
		&cli.BoolFlag{Name: "short", Usage: "print one line for a shell prompt, or nothing if there is no checkpoint"},
		&cli.BoolFlag{Name: "markdown", Usage: "print Markdown for a comment on the issue"},
		&cli.StringFlag{Name: "by", Usage: "`NAME` of the command that would resume, checked against resume.compat"},
		&cli.BoolFlag{Name: "strict", Usage: "with --check: exit with 9 if there are warnings"},
		issuesource.FileFlag("compare with the issue in `FILE`"),
		issuesource.OfflineFlag(),
		invoke.ColorFlag(),
	)
}

func readStatusOptions(c *invoke.Invocation) *statusOptions {
	f := c.Flags
	o := &statusOptions{
		check: f.Bool("check"), done: f.String("done"), description: f.String("description"), forPlan: f.String("for-plan"),
		short: f.Bool("short"), markdown: f.Bool("markdown"), color: invoke.ReadColor(c),
		judge: judge.Options{By: f.String("by"), Strict: f.Bool("strict"), Issue: issuesource.ReadOptions(c), Look: &gitstore.Look{}},
	}
	o.judge.Issue.Recent = !o.check && !c.JSON
	return o
}

func runStatus(c *invoke.Invocation) error {
	o := readStatusOptions(c)
	if err := c.Open(); err != nil {
		return err
	}
	if o.short {
		return statusShort(c, o)
	}
	issue, err := statusIssue(c, o)
	if o.done != "" && err != nil && exit.Classify(err).Code == exit.None {
		return exit.Silent{Code: exit.Failure}
	}
	var several *invoke.SeveralIssuesError
	if errors.As(err, &several) && o.done == "" && !o.check && !o.markdown {
		return statusOverview(c, several.Issues, o.color)
	}
	if err != nil {
		return err
	}
	p, r, err := c.Store.PointRecord(c.Ctx, issue)
	ending := endingOf(c, err)
	switch {
	case o.done != "":
		return statusDone(r, ending, o.done, err)
	case ending != nil:
		return statusEnded(c, o, ending)
	case err != nil:
		return err
	}
	verdict, err := judge.Verdict(c, p.Checkpoint, r, o.judge)
	if err != nil {
		return err
	}
	if err := showStatus(c, o, p, r, verdict); err != nil {
		return err
	}
	if o.check {
		return verdictCode(verdict)
	}
	return nil
}

// statusOverview prints the progress of several issues, one line an issue.
func statusOverview(c *invoke.Invocation, issues []checkpoint.Issue, color string) error {
	summaries := standing.Overview(c, issues)
	if c.JSON {
		return c.WriteJSON(output.StatusOverview{Status: output.Status{Type: "status"}, Issues: summaries})
	}
	return standing.ShowOverview(c, summaries, color)
}

// statusDone returns the exit status of --done.
func statusDone(r *checkpoint.Record, ending *standing.Ending, phase string, err error) error {
	var none *gitstore.NoneError
	over := false
	switch {
	case ending != nil:
		over = ending.IsOver(phase)
	case errors.As(err, &none):
	case err != nil:
		return err
	default:
		over = progress.IsOver(r, phase)
	}
	if !over {
		return exit.Silent{Code: exit.Failure}
	}
	return nil
}

// verdictCode returns the exit code of a verdict.
func verdictCode(v freshness.Verdict) error {
	switch {
	case v.Action == freshness.StartFresh:
		return exit.Silent{Code: exit.StartFresh}
	case v.Action == freshness.PromptUser:
		return exit.Silent{Code: exit.NeedsAnswer}
	case v.Stale:
		return exit.Silent{Code: exit.Stale}
	}
	return nil
}

func showStatus(c *invoke.Invocation, o *statusOptions, p *gitstore.Point, r *checkpoint.Record, v freshness.Verdict) error {
	cp := p.Checkpoint
	if c.JSON {
		out := standing.Status("status", cp, r, v)
		out.WentBack, out.Parallel = standing.WentBackRecord(p), standing.ParallelRecords(standing.NotHere(c, cp.Issue, cp.ID))
		standing.AddSession(c, &out, r)
		out.Warnings = append(out.Warnings, c.TakeWarnings()...)
		return c.WriteJSON(out)
	}
	if o.markdown {
		markdownStatus(c, p, r, v)
		return nil
	}
	at, people, err := c.Screen(o.color)
	if err != nil {
		return err
	}
	if people {
		if c.Common.Verbose {
			defer c.Page()()
		}
		screenStatus(c, at, p, r, v)
	} else {
		plainStatus(c, p, r, v)
	}
	if c.Common.Verbose {
		return cmp.Or(showDiffs(c, cp, v), showCoverage(c, r))
	}
	return nil
}

// plainStatus prints the status in the form for scripts.
func plainStatus(c *invoke.Invocation, p *gitstore.Point, r *checkpoint.Record, v freshness.Verdict) {
	cp := p.Checkpoint
	c.Printf("%s\n", output.Clean(standing.Heading(cp, r)))
	c.Printf("Checkpoint: %s (%s)\n", cp.ID, output.Clean(phrase.Ago(r.CreatedAt(), c.Env.Now())+standing.ByOther(c, cp)))
	standing.ShowWentBack(c, p)
	standing.ShowParallel(c, standing.NotHere(c, cp.Issue, cp.ID))
	c.Printf("Progress: %s\n", output.Clean(standing.ProgressLine(r)))
	standing.ShowPhases(c, r)
	standing.ShowTasks(c, r)
	if cp.Branch != "" {
		c.Printf("Branch: %s\n", output.Clean(cp.Branch))
	}
	if c.Common.Verbose {
		standing.ShowSession(c, r)
	}
	text, at := standing.CanResume(r, v)
	if at != "" {
		text += ", at " + at
	}
	c.Printf("Resume: %s\n", output.Clean(text))
	standing.ShowNext(c, v)
	c.Printf("Resumes unattended: %s\n", output.Clean(standing.AutoResume(v)))
	if c.Store.Root() != "" {
		changed := changedRow(c, cp, v)
		c.Printf("%s: %s\n", changed.Label, changed.Text)
		for _, line := range changed.Below {
			if line != nothingToPutBack {
				c.Printf("  %s\n", output.Clean(line))
			}
		}
	}
	standing.ShowReasons(c, v)
}
