package resume

import (
	"errors"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/judge"
	"git-checkpoint/commands/internal/output"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/retention"
)

// corrupted asks whether to start fresh if the newest checkpoint cannot be read. In that
// case the chain moves to the archive and nothing is lost. In all other cases it returns
// the error.
func corrupted(c *invoke.Invocation, r *resumption, choice string, cause error) error {
	var damaged *gitstore.CorruptError
	if !errors.As(cause, &damaged) || c.IssueInQuestion == "" || len(c.Args) > 1 || c.Flags.Bool("dry-run") {
		return cause
	}
	if choice == "" {
		choice = askCorrupted(c, cause)
	}
	if choice != "s" {
		return cause
	}
	moved, err := c.Store.Archive(c.Ctx, c.IssueInQuestion, nil, retention.ReasonAbandoned)
	if err != nil {
		return errors.Join(cause, err)
	}
	c.Infof("archived %s; git checkpoint undo %s brings them back", phrase.Plural(len(moved), "checkpoint"), phrase.QuoteArg(string(c.IssueInQuestion)))
	switch {
	case c.JSON:
		err = c.WriteJSON(output.Resume{Status: output.Status{
			Type: "resume", Issue: string(c.IssueInQuestion), Action: freshness.StartFresh.String(), Warnings: c.TakeWarnings(),
		}})
	case c.Flags.String("print") == "env":
		printVariables(c, r, freshness.StartFresh.String(), "", "", "", "")
	}
	if err != nil {
		return err
	}
	return exit.Silent{Code: exit.StartFresh}
}

// askCorrupted returns "s" if a person chooses to start fresh.
func askCorrupted(c *invoke.Invocation, cause error) string {
	if judge.Auto(c) || c.JSON {
		return ""
	}
	d, err := c.Dialog("")
	if err != nil {
		return ""
	}
	defer d.Close()
	c.Warnf("%v", cause)
	if answer, err := d.Ask("State appears corrupted. Start fresh? [y/N] ", invoke.YesNo); err == nil && answer == "y" {
		return "s"
	}
	return ""
}
