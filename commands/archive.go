package commands

import (
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
)

var archiveCommand = command{
	name: "archive", usage: "move checkpoints to the archive", args: "[ISSUE] [ID]", max: 2, category: "Keep",
	description: "Without ID the issue's whole chain. Archived checkpoints are still found by\n" +
		"show, resume, restore and drop; list shows them with --archived.",
	examples: []string{"git checkpoint archive 42"},
	run:      runArchive,
}

func runArchive(c *Invocation) error {
	if err := c.open(); err != nil {
		return err
	}
	issue, ids, err := c.toArchive()
	if err != nil {
		return err
	}
	moved, err := c.store.Archive(c.ctx, issue, ids, retention.ReasonAsked)
	if err != nil {
		return err
	}
	return c.showResult("archive", issue, moved, "archived")
}

// toArchive returns the checkpoints that the arguments name. It returns no ids if the
// whole chain is to be archived.
func (c *Invocation) toArchive() (checkpoint.Issue, []checkpoint.ID, error) {
	if len(c.args) == 0 {
		issue, err := c.inferIssue()
		return issue, nil, err
	}
	if len(c.args) == 1 {
		issue, name, err := c.issueOrName(c.args[0])
		if err != nil || name != c.args[0] {
			return issue, nil, err
		}
	}
	cp, err := c.checkpointArg(true)
	if err != nil {
		return "", nil, err
	}
	return cp.Issue, []checkpoint.ID{cp.ID}, nil
}
