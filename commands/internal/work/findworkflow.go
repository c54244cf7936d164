package work

import (
	"strings"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/failure"

	"github.com/urfave/cli/v2"
)

// WorkflowFlags returns the flags that name the issue by its workflow.
func WorkflowFlags(q *progress.Query) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "type", Usage: "the issue of the newest workflow of `TYPE`, like implement, that is not over", Destination: &q.Type},
		&cli.StringFlag{Name: "project", Usage: "with --type, of the `PROJECT`", Destination: &q.Project},
	}
}

// NameByWorkflow sets the issue of the command to that of the workflow of --type and
// --project, if they are given.
func NameByWorkflow(c *invoke.Invocation, q progress.Query) error {
	if err := CheckWorkflow(c, q); err != nil || q.Type == "" {
		return err
	}
	if c.Line.Common.Issue != "" {
		return failure.Usagef("%s: --type finds the issue: name no issue", c.Line.Name)
	}
	i, err := FindWorkflow(c, q, strings.TrimSuffix(q.Type+" "+q.Project, " "))
	c.Line.Common.Issue = string(i)
	return err
}

// CheckWorkflow returns an error for --project without --type.
func CheckWorkflow(c *invoke.Invocation, q progress.Query) error {
	if q.Type == "" && q.Project != "" {
		return failure.Usagef("%s: --project goes with --type", c.Line.Name)
	}
	return nil
}

// A found is an issue whose newest checkpoint matches a query.
type found struct {
	issue checkpoint.Issue
	match int
	over  bool
	r     *checkpoint.Record
}

// better reports whether f is a better result than g: the better match, then the
// unfinished workflow, then the newer record.
func (f found) better(g found) bool {
	switch {
	case f.match != g.match:
		return f.match > g.match
	case f.over != g.over:
		return !f.over
	}
	return f.r.CreatedAt().After(g.r.CreatedAt())
}

// FindWorkflow returns the issue whose newest checkpoint matches a query best.
func FindWorkflow(c *invoke.Invocation, q progress.Query, what string) (checkpoint.Issue, error) {
	defer c.Store.CacheRefs(c.Ctx)()
	issues, err := c.IssuesWithCheckpoints()
	if err != nil {
		return "", err
	}
	var best found
	var others []string
	for _, i := range issues {
		p, err := c.Store.Point(c.Ctx, i)
		if err != nil {
			continue
		}
		r, err := c.Store.VerifiedRecord(p.Checkpoint)
		if err != nil {
			c.Warnf("issue %s is left out: %v", i, err)
			continue
		}
		f := found{i, q.Match(r), progress.Over(r) || progress.Complete(r), r}
		if f.match == 0 {
			continue
		}
		if best.r == nil || f.better(best) {
			best, f = f, best
		}
		if f.r != nil && !f.over {
			others = append(others, string(f.issue))
		}
	}
	if best.r == nil {
		start := "git checkpoint start ISSUE --description " + view.QuoteArg(what)
		if q.Type != "" {
			start = "git checkpoint start ISSUE --type " + view.QuoteArg(q.Type)
		}
		return "", failure.Errorf(failure.None, start, "%s: no workflow for %q has a checkpoint", c.Line.Name, what)
	}
	if len(others) > 0 {
		c.Warnf("it could be another one: %s", view.List(others))
	}
	c.Subject.Issue = best.issue
	return best.issue, nil
}
