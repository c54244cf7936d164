package status

import (
	"cmp"
	"path/filepath"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/layout/recovery"
)

// statusIssue returns the named issue, or the issue of the workflow that --description or
// --for-plan matches.
func statusIssue(c *invoke.Invocation, o *statusOptions) (checkpoint.Issue, error) {
	text, plan := o.description, o.forPlan
	if text == "" && plan == "" {
		return c.Issue()
	}
	if len(c.Args) > 0 || c.Common.Issue != "" || text != "" && plan != "" {
		return "", exit.Usagef("status: --description and --for-plan find the issue: name one of them and no issue")
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
	return findWorkflow(c, q, cmp.Or(text, plan))
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

// findWorkflow searches the newest checkpoints of all issues.
func findWorkflow(c *invoke.Invocation, q progress.Query, what string) (checkpoint.Issue, error) {
	issues, err := c.IssuesWithCheckpoints()
	if err != nil {
		return "", err
	}
	var best found
	var others []string
	for _, i := range issues {
		cp, err := c.Store.Newest(c.Ctx, i)
		if err != nil {
			continue
		}
		r, err := c.Store.VerifiedRecord(cp)
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
		return "", exit.Errorf(exit.None, "git checkpoint start ISSUE --description "+phrase.QuoteArg(what), "status: no checkpoint of a workflow: %q", what)
	}
	if len(others) > 0 {
		c.Warnf("it could be another one: %s", phrase.List(others))
	}
	c.IssueInQuestion = best.issue
	return best.issue, nil
}
