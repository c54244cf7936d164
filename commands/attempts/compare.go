package attempts

import (
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

// compareOptions are the flags of compare.
type compareOptions struct {
	markdown bool
	color    string
}

func (o *compareOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "markdown", Usage: "print a table in Markdown", Destination: &o.markdown},
		invoke.ColorFlag(&o.color),
	}
}

func runCompare(c *invoke.Invocation, o *compareOptions) error {
	if o.markdown && c.Line.JSON {
		return failure.Usagef("compare: --markdown and --json cannot be combined")
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

// measureAll measures the attempts, one after the other.
func measureAll(c *invoke.Invocation, issues []checkpoint.Issue) ([]view.Attempt, error) {
	sources := map[checkpoint.Issue]checkpoint.Fork{}
	for _, i := range issues {
		if _, _, f, err := forkRecord(c, i); err != nil {
			return nil, err
		} else if f.Issue != "" {
			sources[i] = f
			if _, known := sources[f.Issue]; !known { // the source itself can be compared too
				sources[f.Issue] = f
			}
		}
	}
	var list []view.Attempt
	for _, i := range issues {
		a, err := measure(c, i, sources[i])
		if err != nil {
			return nil, err
		}
		list = append(list, *a)
	}
	return list, nil
}

// measure returns the row of an attempt. f is the source from which its changes count.
func measure(c *invoke.Invocation, i checkpoint.Issue, f checkpoint.Fork) (*view.Attempt, error) {
	cp, r, _, err := forkRecord(c, i)
	if err != nil {
		return nil, err
	}
	a := work.Attempt(c.Ctx, c.Store, cp, r, f)
	if len(c.Line.Paths) > 0 {
		err = try(c, i, cp, a)
	}
	return a, err
}

// try runs the command at a state, and sets its result.
func try(c *invoke.Invocation, i checkpoint.Issue, cp *gitstore.Checkpoint, a *view.Attempt) error {
	line, err := c.Store.Line(c.Ctx, i)
	if err != nil {
		return err
	}
	st := line.ByID(cp.ID)
	if st == nil {
		return failure.Errorf(failure.Invalid, "git checkpoint list "+view.IssueArg(i), "compare: %s is not in the chain", cp.Name())
	}
	t, err := line.NewTrial(c.Ctx)
	if err != nil {
		return err
	}
	defer t.Close()
	c.Infof("%s: testing %s", i, cp.ID.Short())
	a.Code, err = work.RunInTrial(c.Ctx, c, t, st, c.Line.Paths)
	switch {
	case a.Code == 0:
		a.Result = view.ResultOK
	case a.Code == work.SkippedCode:
		a.Result = view.ResultSkipped
	default:
		a.Result = view.ResultFailed
	}
	return err
}
