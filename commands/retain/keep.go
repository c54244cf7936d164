package retain

import (
	"errors"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
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
	cp, err := c.CheckpointArg(true)
	if err != nil {
		return err
	}
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
	return showResult(c, name, cp.Issue, []checkpoint.ID{cp.ID}, result)
}

// ArchiveCommand declares git checkpoint archive.
var ArchiveCommand = invoke.Command{
	Name: "archive", Usage: "move checkpoints to the archive", Args: "[ISSUE] [ID]", Max: 2, Category: "Keep",
	Description: "Archives one checkpoint, or without ID the whole chain of the issue. Later show,\n" +
		"resume, restore and drop find it by its id, and list --archived lists it.",
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

// UndoCommand declares git checkpoint undo.
var UndoCommand = invoke.Command{
	Name: "undo", Usage: "revert the last restore, prune, drop or archive", Args: "[ISSUE]", Max: 1, Category: "Resume",
	Everyday: true,
	Description: "Takes back the last restore, prune, drop or archive of the issue in this clone, and\n" +
		"names it. Later saves stay, with the checkpoints that they pruned by themselves.\n" +
		"A second undo takes back the operation before that.",
	Examples: []string{"git checkpoint undo 42"},
	Run:      runUndo,
}

func runUndo(c *invoke.Invocation) error {
	if err := c.Open(); err != nil {
		return err
	}
	issue, err := c.Issue()
	if err != nil {
		return err
	}
	done, err := c.Store.Undo(c.Ctx, issue)
	if errors.As(err, new(*gitstore.UnfinishedError)) {
		return exit.Errorf(exit.Failure, "git checkpoint undo "+phrase.IssueArg(issue), "%w", err)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return showResult(c, "undo", issue, done.IDs, done.What)
	}
	showUndone(c, issue, done)
	return nil
}

// showUndone prints the undone operation and the restored checkpoints and files.
func showUndone(c *invoke.Invocation, issue checkpoint.Issue, done *gitstore.Undone) {
	c.SkipIssue()
	c.Infof("took back the last %s of issue %s", done.What, issue)
	for _, id := range done.IDs {
		c.Printf("brought back %s\n", id)
	}
	if done.Restored == nil {
		return
	}
	removed := phrase.Set(done.Restored.Removed)
	for _, path := range done.Restored.Restored {
		c.Printf("%s %s\n", map[bool]string{false: "put back", true: "removed"}[removed[path]], phrase.QuotePath(path))
	}
	for _, path := range done.Restored.Skipped {
		c.Warnf("%s changed since and stays as it is", phrase.QuotePath(path))
	}
}

// showResult prints an action's result for each checkpoint.
func showResult(c *invoke.Invocation, kind string, issue checkpoint.Issue, ids []checkpoint.ID, result string) error {
	if c.JSON {
		return c.WriteJSON(output.ActionResult{Type: kind, Issue: string(issue), CheckpointIDs: phrase.Strings(ids), Result: result})
	}
	for _, id := range ids {
		c.Printf("%s %s\n", result, id)
	}
	return nil
}
