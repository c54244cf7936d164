package commands

import (
	"errors"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// withRecoveryHint adds a recovery command to the error of a damaged chain, or of an
// issue whose checkpoints are all in its archive.
func (c *Invocation) withRecoveryHint(err error) error {
	var none *gitstore.NoneError
	if errors.As(err, &none) && !errors.As(err, new(*failure)) && c.archived(none.Issue) {
		return fail(exitNone, "git checkpoint list "+issueArg(none.Issue)+" --archived", "%w", none)
	}
	var damaged *gitstore.CorruptError
	if !errors.As(err, &damaged) || damaged.Hint != "" || errors.As(err, new(*failure)) || c.issueInQuestion == "" {
		return err
	}
	hint := c.recoveryCommand(c.issueInQuestion)
	if hint == "" {
		hint = "git checkpoint verify " + quoteArg(string(c.issueInQuestion))
	}
	return fail(exitInvalid, hint, "%w", err)
}

// archived reports whether an issue without live checkpoints has archived checkpoints.
func (c *Invocation) archived(issue checkpoint.Issue) bool {
	if c.store == nil {
		return false
	}
	l, err := c.store.Archived(c.ctx, issue, 1)
	return err == nil && len(l.Checkpoints) > 0
}
