package commands

import (
	"errors"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/commands/output"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/retention"
)

// corrupted asks whether to start fresh if the newest checkpoint cannot be read. In that
// case the chain moves to the archive and nothing is lost. In all other cases it returns
// the error.
func (c *Invocation) corrupted(r *resumption, choice string, cause error) error {
	var damaged *gitstore.CorruptError
	if !errors.As(cause, &damaged) || c.issueInQuestion == "" || len(c.args) > 1 || c.flags.Bool("dry-run") {
		return cause
	}
	if choice == "" {
		choice = c.askCorrupted(cause)
	}
	if choice != "s" {
		return cause
	}
	moved, err := c.store.Archive(c.ctx, c.issueInQuestion, nil, retention.ReasonAbandoned)
	if err != nil {
		return errors.Join(cause, err)
	}
	c.infof("archived %s; git checkpoint undo %s brings them back", phrase.Plural(len(moved), "checkpoint"), phrase.QuoteArg(string(c.issueInQuestion)))
	switch {
	case c.json:
		err = c.write(output.Resume{Status: output.Status{
			Type: "resume", Issue: string(c.issueInQuestion), Action: freshness.StartFresh.String(), Warnings: c.takeWarnings(),
		}})
	case c.flags.String("print") == "env":
		c.printVariables(r, freshness.StartFresh.String(), "", "", "", "")
	}
	if err != nil {
		return err
	}
	return exit.Silent{Code: exit.StartFresh}
}

// askCorrupted returns "s" if a person chooses to start fresh.
func (c *Invocation) askCorrupted(cause error) string {
	if c.auto() || c.json {
		return ""
	}
	d, err := c.dialog("")
	if err != nil {
		return ""
	}
	defer d.close()
	c.warnf("%v", cause)
	if answer, err := d.ask("State appears corrupted. Start fresh? [y/N] ", yesNo); err == nil && answer == "y" {
		return "s"
	}
	return ""
}
