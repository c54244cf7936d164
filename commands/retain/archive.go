package retain

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
)

// ArchiveCommand declares git checkpoint archive.
var ArchiveCommand = invoke.Command{
	Name: "archive", Usage: "move checkpoints to the archive", Args: "[ISSUE] [ID]", Max: 2, Category: "Keep",
	Description: "Without ID the issue's whole chain. Archived checkpoints are still found by\n" +
		"show, resume, restore and drop; list shows them with --archived.",
	Examples: []string{"git checkpoint archive 42"},
	Run:      runArchive,
}

func runArchive(c *invoke.Invocation) error {
	if err := c.Open(); err != nil {
		return err
	}
	issue, ids, err := toArchive(c)
	if err != nil {
		return err
	}
	moved, err := c.Store.Archive(c.Ctx, issue, ids, retention.ReasonAsked)
	if err != nil {
		return err
	}
	return showResult(c, "archive", issue, moved, "archived")
}

// toArchive returns the checkpoints that the arguments name. It returns no ids if the
// whole chain is to be archived.
func toArchive(c *invoke.Invocation) (checkpoint.Issue, []checkpoint.ID, error) {
	if len(c.Args) == 0 {
		issue, err := c.InferIssue()
		return issue, nil, err
	}
	if len(c.Args) == 1 {
		issue, name, err := c.IssueOrName(c.Args[0])
		if err != nil || name != c.Args[0] {
			return issue, nil, err
		}
	}
	cp, err := c.CheckpointArg(true)
	if err != nil {
		return "", nil, err
	}
	return cp.Issue, []checkpoint.ID{cp.ID}, nil
}
