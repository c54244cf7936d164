package retain

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/retention"
)

// PinCommand declares git checkpoint pin.
var PinCommand = invoke.Command{
	Name: "pin", Usage: "protect a checkpoint from retention", Args: "[ISSUE] ID", Max: 2, Category: "Keep",
	Examples: []string{"git checkpoint pin 42 latest", "git checkpoint pin 1f0c9a2b"},
	Run:      func(c *invoke.Invocation) error { return runPin(c, "pin", true) },
}

// UnpinCommand declares git checkpoint unpin.
var UnpinCommand = invoke.Command{
	Name: "unpin", Usage: "end the protection of a checkpoint", Args: "[ISSUE] ID", Max: 2, Category: "Keep",
	Examples: []string{"git checkpoint unpin 42 1f0c9a2b"},
	Run:      func(c *invoke.Invocation) error { return runPin(c, "unpin", false) },
}

func runPin(c *invoke.Invocation, name string, on bool) error {
	if err := c.Open(); err != nil {
		return err
	}
	named, err := c.CheckpointArgs()
	if err != nil {
		return err
	}
	if len(named) > 1 {
		return failure.Usagef("%s: name one checkpoint", name)
	}
	cp := named[0]
	changed, err := c.Store.Pin(c.Ctx, cp.Issue, cp.ID, on)
	if err != nil {
		return err
	}
	if cp.Archived && on {
		c.Infof("%s is in the archive: it stays there, and does not come back to the chain", cp.ID)
	}
	result := map[bool]string{true: "pinned", false: "unpinned"}[on]
	if !changed {
		result = "already " + result
	}
	return showResult(c, name, cp.Issue, []checkpoint.ID{cp.ID}, result, false)
}

// ArchiveCommand declares git checkpoint archive.
var ArchiveCommand = invoke.Command{
	Name: "archive", Usage: "move checkpoints to the archive", Args: "[ISSUE] [ID...]", Max: maxNamed, Category: "Keep",
	Description: "Archives checkpoints, or without ID the whole chain of the issue. Later show,\n" +
		"resume, restore and drop find them by their ids, and list --archived lists them.",
	Examples: []string{"git checkpoint archive 42"},
	Run: func(c *invoke.Invocation) error {
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
		return showResult(c, "archive", issue, moved, "archived", true)
	},
}

// toArchive returns the checkpoints that the arguments name. It returns no ids if the
// whole chain is to be archived.
func toArchive(c *invoke.Invocation) (checkpoint.Issue, []checkpoint.ID, error) {
	if len(c.Line.Args) == 0 {
		issue, err := c.InferIssue()
		return issue, nil, err
	}
	if len(c.Line.Args) == 1 {
		issue, name, err := c.IssueOrName(c.Line.Args[0])
		if err != nil || name != c.Line.Args[0] {
			return issue, nil, err
		}
	}
	named, err := c.CheckpointArgs()
	if err != nil {
		return "", nil, err
	}
	return named[0].Issue, idsOf(named), nil
}

// maxNamed limits the arguments of a command that takes several checkpoints.
const maxNamed = 1000

// idsOf returns the ids of checkpoints, "" for a commit without an id.
func idsOf(checkpoints []gitstore.Checkpoint) []checkpoint.ID {
	return view.Each(checkpoints, func(cp gitstore.Checkpoint) checkpoint.ID { return cp.ID })
}

// showResult prints the changed checkpoints, and the command that brings them back.
func showResult(c *invoke.Invocation, kind string, issue checkpoint.Issue, ids []checkpoint.ID, result string, canUndo bool) error {
	if c.Line.JSON {
		return c.WriteJSON(view.ActionResult{Type: kind, Issue: string(issue), CheckpointIDs: view.Strings(ids), Result: result})
	}
	for _, id := range ids {
		c.Printf("%s %s\n", result, id)
	}
	if canUndo {
		c.Infof("hint: git checkpoint undo %s", view.IssueArg(issue))
	}
	return nil
}
