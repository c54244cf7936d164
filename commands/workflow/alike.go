package workflow

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
)

// maxAlike limits the issues whose projects are compared.
const maxAlike = 200

// tellAlike warns if another open workflow's project name is a prefix of this name, or
// the reverse. A search for files by prefix would find both.
func tellAlike(c *invoke.Invocation, issue checkpoint.Issue, project string) {
	if project == "" {
		return
	}
	issues, err := c.IssuesWithCheckpoints()
	if err != nil {
		return
	}
	for _, i := range issues[:min(len(issues), maxAlike)] {
		if i == issue {
			continue
		}
		_, r, err := c.Store.NewestRecord(c.Ctx, i)
		if err != nil || progress.Over(r) {
			continue
		}
		if other := r.Doc().Sub("workflow").Text("project"); progress.Alike(project, other) {
			c.Warnf("project %s begins like %s of issue %s: names that differ from their beginning are told apart", project, other, i)
		}
	}
}
