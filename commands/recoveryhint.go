package commands

import (
	"errors"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// withRecoveryHint adds a recovery command to the error of a damaged chain, or of an
// issue whose checkpoints are all in its archive.
func (c *Invocation) withRecoveryHint(err error) error {
	var none *gitstore.NoneError
	if errors.As(err, &none) && !errors.As(err, new(*exit.Error)) && c.archived(none.Issue) {
		return exit.Errorf(exit.None, "git checkpoint list "+phrase.IssueArg(none.Issue)+" --archived", "%w", none)
	}
	var damaged *gitstore.CorruptError
	if !errors.As(err, &damaged) || damaged.Hint != "" || errors.As(err, new(*exit.Error)) || c.issueInQuestion == "" {
		return err
	}
	hint := c.recoveryCommand(c.issueInQuestion)
	if hint == "" {
		hint = "git checkpoint verify " + phrase.QuoteArg(string(c.issueInQuestion))
	}
	return exit.Errorf(exit.Invalid, hint, "%w", err)
}

// archived reports whether an issue without live checkpoints has archived checkpoints.
func (c *Invocation) archived(issue checkpoint.Issue) bool {
	if c.store == nil {
		return false
	}
	l, err := c.store.Archived(c.ctx, issue, 1)
	return err == nil && len(l.Checkpoints) > 0
}
