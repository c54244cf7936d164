package work

import (
	"slices"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
)

// StoryRecords returns a function that returns the newest record of a story, or nil if the
// story has no readable record. The refs of the repository are listed once.
func StoryRecords(c *invoke.Invocation) func(id string) *checkpoint.Record {
	issues, _, _ := c.Store.Issues(c.Ctx, false)
	left := 200 // stories whose own records are read
	return func(id string) *checkpoint.Record {
		issue, err := checkpoint.ParseIssue(id)
		if err != nil || left == 0 || !slices.Contains(issues, issue) {
			return nil
		}
		left--
		_, r, err := c.Store.PointRecord(c.Ctx, issue)
		if err != nil {
			return nil
		}
		return r
	}
}

// JoinStories returns the record of a pipeline's lead joined with the records of its stories
// (story.Joined), and the standings of these stories. It returns every other record unchanged.
func JoinStories(c *invoke.Invocation, r *checkpoint.Record) (*checkpoint.Record, []story.Standing) {
	if r == nil || !story.IsLead(r) || story.IsComplete(r) {
		return r, nil
	}
	all := story.Join(r, StoryRecords(c))
	return story.Joined(r, all), all
}
