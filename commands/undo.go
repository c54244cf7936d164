package commands

import (
	"errors"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

var undoCommand = command{
	name: "undo", usage: "take back the last restore, prune, drop or archive", args: "[ISSUE]", max: 1, category: "Resume",
	description: "Takes back what this clone did last to the issue, and names it. What was saved\n" +
		"since stays. A second undo takes back what was done before that.",
	examples: []string{"git checkpoint undo 42"},
	run:      runUndo,
}

func runUndo(c *Invocation) error {
	if err := c.open(); err != nil {
		return err
	}
	issue, err := c.issueAmong(c.issuesToUndo)
	if err != nil {
		return err
	}
	done, err := c.store.Undo(c.ctx, issue)
	if errors.As(err, new(*gitstore.UnfinishedError)) {
		return exit.Errorf(exit.Failure, "git checkpoint undo "+phrase.IssueArg(issue), "%w", err)
	}
	if err != nil {
		return err
	}
	if c.json {
		return c.showResult("undo", issue, done.IDs, done.What)
	}
	c.showUndone(issue, done)
	return nil
}

// issuesToUndo returns the issues that have checkpoints, or all issues if none has
// checkpoints: undo also works on a chain without checkpoints.
func (c *Invocation) issuesToUndo() ([]checkpoint.Issue, error) {
	issues, err := c.issuesWithCheckpoints()
	if err == nil && len(issues) == 0 {
		issues, _, err = c.store.Issues(c.ctx, false)
	}
	return issues, err
}

// showUndone prints the undone operation and the restored checkpoints and files.
func (c *Invocation) showUndone(issue checkpoint.Issue, done *gitstore.Undone) {
	c.infof("took back the last %s of issue %s", done.What, issue)
	for _, id := range done.IDs {
		c.print("brought back %s\n", id)
	}
	if done.Restored == nil {
		return
	}
	for _, path := range done.Restored.Restored {
		c.print("put back %s\n", phrase.QuotePath(path))
	}
	for _, path := range done.Restored.Skipped {
		c.warnf("%s changed since and stays as it is", phrase.QuotePath(path))
	}
}
