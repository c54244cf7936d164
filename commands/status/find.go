package status

import (
	"cmp"
	"path/filepath"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout/recovery"
)

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
