package attempts

import (
	"context"
	"errors"
	"sync"

	"git-checkpoint/commands/internal/guard"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
)

// CompareCommand declares git checkpoint compare.
var CompareCommand = invoke.Command{
	Name: "compare", Usage: "compare attempts: result of a command, changed lines, time and turns", Args: "[ISSUE]... [-- CMD...]", Max: 64, Category: "Attempts",
	ShortHelp: []string{"markdown"},
	Description: "Prints a row for the newest state of each issue; a single issue stands for all its forks.\n" +
		"Files, lines, time and turns count from the fork. CMD runs in a temporary copy of each\n" +
		"state: exit code 0 is ok, 125 is skipped, others are failed. The best attempt is the one\n" +
		"with the fewest changed lines for which CMD succeeds. Index, worktree, HEAD and refs do not\n" +
		"change. GIT_CHECKPOINT_ISSUE names the attempt for CMD.",
	Examples: []string{
		"git checkpoint compare 43 -- make test",
		"git checkpoint compare 43+a 43+b --markdown -- go test ./...",
	},
	ReadsOnly: true,
	New:       invoke.Bind((*compareOptions).flags, runCompare),
}

type compareOptions struct {
	markdown bool
	jobs     int
	color    string
}

func (o *compareOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "markdown", Usage: "print a table in Markdown", Destination: &o.markdown},
		&cli.IntFlag{Name: "jobs", Usage: "test `N` attempts at once", Value: 1, Destination: &o.jobs},
		invoke.ColorFlag(&o.color),
	}
}

func runCompare(c *invoke.Invocation, o *compareOptions) error {
	if o.markdown && c.Line.JSON {
		return failure.Usagef("compare: --markdown and --json cannot be combined")
	}
	if o.jobs < 1 || o.jobs > 64 {
		return failure.Usagef("compare: --jobs: %d: want 1 to 64", o.jobs)
	}
	if err := c.Open(); err != nil {
		return err
	}
	of, issues, err := compared(c)
	if err != nil {
		return err
	}
	gitstore.RemoveLeftTemporaries()
	list, err := measureAll(c, issues)
	if err == nil && len(c.Line.Paths) > 0 {
		err = tryAll(c, list, o.jobs)
	}
	if err != nil {
		return err
	}
	view.MarkBest(list)
	if c.Line.JSON {
		return c.WriteJSON(view.Compare{Type: "compare", Issue: string(of), Attempts: view.AttemptRecords(list)})
	}
	if o.markdown {
		c.Printf("%s", view.AttemptsMarkdown(list))
		return nil
	}
	at, _, err := c.Screen(o.color)
	if err != nil {
		return err
	}
	c.Printf("%s", at.Attempts(list))
	for _, a := range list {
		if a.Best {
			c.Infof("hint: git checkpoint adopt %s", view.IssueArg(a.Issue))
		}
	}
	return nil
}

// compared returns the issues to compare, and the issue of which all of them are forks, or "". In
// the worktree of a fork, the forks of its source are compared.
func compared(c *invoke.Invocation) (of checkpoint.Issue, issues []checkpoint.Issue, err error) {
	if len(c.Line.Args) > 1 {
		for _, arg := range c.Line.Args {
			i, err := c.ParseIssueArg(arg)
			if err != nil {
				return "", nil, err
			}
			issues = append(issues, i)
		}
		return "", issues, nil
	}
	issue, err := c.Issue()
	if err != nil {
		return "", nil, err
	}
	if forks, err := c.Store.Forks(c.Ctx, issue); err != nil || len(forks) > 0 {
		return issue, forks, err
	}
	_, r, err := c.Store.PointRecord(c.Ctx, issue)
	if err != nil {
		return "", nil, err
	}
	f := r.Fork()
	if f.Issue != "" && len(c.Line.Args) == 1 {
		return f.Issue, []checkpoint.Issue{issue}, nil
	}
	if f.Issue != "" {
		issue = f.Issue
	}
	issues, err = forksOf(c, issue)
	return issue, issues, err
}

func measureAll(c *invoke.Invocation, issues []checkpoint.Issue) ([]view.Attempt, error) {
	points, records := make([]*gitstore.Point, len(issues)), make([]*checkpoint.Record, len(issues))
	sources := map[checkpoint.Issue]checkpoint.Fork{}
	for n, i := range issues {
		var err error
		if points[n], records[n], err = c.Store.PointRecord(c.Ctx, i); err != nil {
			return nil, err
		}
		if f := records[n].Fork(); f.Issue != "" {
			sources[i] = f
			if _, known := sources[f.Issue]; !known { // the source itself can be compared too
				sources[f.Issue] = f
			}
		}
	}
	var list []view.Attempt
	for n, i := range issues {
		list = append(list, *work.Attempt(c.Ctx, c.Store, points[n].Checkpoint, records[n], sources[i]))
	}
	return list, nil
}

// tryAll runs the command at the states of attempts, some of them at once, and sets the results.
func tryAll(c *invoke.Invocation, list []view.Attempt, jobs int) error {
	guard.SurviveClosedPipes() // the copies are removed then too
	ctx, stop := context.WithCancel(c.Ctx)
	defer stop()
	var wait sync.WaitGroup
	errs, running := make([]error, len(list)), make(chan struct{}, jobs)
	for n := range list {
		running <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		c.Infof("%s: testing %s", list[n].Issue, list[n].ID.Short())
		a := &list[n]
		line, err := c.Store.Line(ctx, a.Issue)
		if err != nil {
			errs[n] = err
			break
		}
		st := line.ByID(a.ID)
		if st == nil {
			line.Close()
			errs[n] = failure.Errorf(failure.Invalid, "git checkpoint list "+view.IssueArg(a.Issue), "compare: %s is not in the chain", a.ID)
			break
		}
		t, err := line.NewTrial(ctx)
		line.Close()
		if err != nil {
			errs[n] = err
			break
		}
		wait.Go(func() {
			a.Code, errs[n] = work.RunInTrial(ctx, c, t, st, c.Line.Paths)
			switch {
			case a.Code == 0:
				a.Result = view.ResultOK
			case a.Code == work.SkippedCode:
				a.Result = view.ResultSkipped
			default:
				a.Result = view.ResultFailed
			}
			if errs[n] != nil {
				stop()
			}
			t.Close()
			<-running
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return c.Ctx.Err()
}
