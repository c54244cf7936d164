package commands

import (
	"errors"

	"git-checkpoint/commands/internal/exit"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// withRecoveryHint adds a recovery command to the error of a damaged chain, or of an
// issue whose checkpoints are all in its archive.
func withRecoveryHint(c *invoke.Invocation, err error) error {
	var none *gitstore.NoneError
	if errors.As(err, &none) && !errors.As(err, new(*exit.Error)) && onlyArchived(c, none.Issue) {
		return exit.Errorf(exit.None, "git checkpoint list "+phrase.IssueArg(none.Issue)+" --archived", "%w", none)
	}
	var damaged *gitstore.CorruptError
	if !errors.As(err, &damaged) || damaged.Hint != "" || errors.As(err, new(*exit.Error)) || c.IssueInQuestion == "" {
		return err
	}
	hint := invoke.RecoveryCommand(c, c.IssueInQuestion)
	if hint == "" {
		hint = "git checkpoint verify " + phrase.QuoteArg(string(c.IssueInQuestion))
	}
	return exit.Errorf(exit.Invalid, hint, "%w", err)
}

// onlyArchived reports whether an issue without live checkpoints has archived checkpoints.
func onlyArchived(c *invoke.Invocation, issue checkpoint.Issue) bool {
	if c.Store == nil {
		return false
	}
	l, err := c.Store.Archived(c.Ctx, issue, 1)
	return err == nil && len(l.Checkpoints) > 0
}
