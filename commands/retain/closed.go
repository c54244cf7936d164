package retain

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/issuesource"
	"git-checkpoint/gitstore/checkpoint"
)

// closed returns the issues that are closed in their source. It warns of issues whose
// state is unknown.
func closed(c *invoke.Invocation, issues []checkpoint.Issue) ([]checkpoint.Issue, error) {
	var closed []checkpoint.Issue
	for _, i := range issues {
		now, why, err := issuesource.Current(c, i)
		switch {
		case err != nil:
			return nil, err
		case now == nil:
			c.Warnf("issue %s is left alone: it is not known whether it is closed: %s", i, why)
		case now.State == "closed":
			closed = append(closed, i)
		case now.State == "":
			c.Warnf("issue %s is left alone: its source does not say whether it is closed", i)
		case len(issues) == 1:
			c.Infof("issue %s is %s: nothing is archived", i, now.State)
		}
	}
	return closed, nil
}
