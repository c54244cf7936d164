package retain

import (
	"errors"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// UndoCommand declares git checkpoint undo.
var UndoCommand = invoke.Command{
	Name: "undo", Usage: "take back the last restore, prune, drop or archive", Args: "[ISSUE]", Max: 1, Category: "Resume",
	Description: "Takes back what this clone did last to the issue, and names it. What was saved\n" +
		"since stays. A second undo takes back what was done before that.",
	Examples: []string{"git checkpoint undo 42"},
	Run:      runUndo,
}

func runUndo(c *invoke.Invocation) error {
	if err := c.Open(); err != nil {
		return err
	}
	issue, err := c.IssueAmong(func() ([]checkpoint.Issue, error) { return issuesToUndo(c) })
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

// issuesToUndo returns the issues that have checkpoints, or all issues if none has
// checkpoints: undo also works on a chain without checkpoints.
func issuesToUndo(c *invoke.Invocation) ([]checkpoint.Issue, error) {
	issues, err := c.IssuesWithCheckpoints()
	if err == nil && len(issues) == 0 {
		issues, _, err = c.Store.Issues(c.Ctx, false)
	}
	return issues, err
}

// showUndone prints the undone operation and the restored checkpoints and files.
func showUndone(c *invoke.Invocation, issue checkpoint.Issue, done *gitstore.Undone) {
	c.Infof("took back the last %s of issue %s", done.What, issue)
	for _, id := range done.IDs {
		c.Printf("brought back %s\n", id)
	}
	if done.Restored == nil {
		return
	}
	for _, path := range done.Restored.Restored {
		c.Printf("put back %s\n", phrase.QuotePath(path))
	}
	for _, path := range done.Restored.Skipped {
		c.Warnf("%s changed since and stays as it is", phrase.QuotePath(path))
	}
}
