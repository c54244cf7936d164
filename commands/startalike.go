package commands

import (
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
)

// maxAlike bounds how many other issues are asked for their projects.
const maxAlike = 200

// tellAlike warns where the project of another issue's workflow begins like this
// one's, or the other way round: who looks for files by the beginning of their
// names finds both.
func (c *Invocation) tellAlike(issue checkpoint.Issue, project string) {
	if project == "" {
		return
	}
	issues, err := c.issuesWithCheckpoints()
	if err != nil {
		return
	}
	for _, i := range issues[:min(len(issues), maxAlike)] {
		if i == issue {
			continue
		}
		_, r, err := c.store.NewestRecord(c.ctx, i)
		if err != nil || progress.Over(r) {
			continue
		}
		if other := r.Doc().Sub("workflow").Text("project"); progress.Alike(project, other) {
			c.warnf("project %s begins like %s of issue %s: names that differ from their beginning are told apart", project, other, i)
		}
	}
}
