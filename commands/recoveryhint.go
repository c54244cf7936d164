package commands

import (
	"errors"
	"fmt"

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

// recoveryCommand returns the command that recovers from the damage, or "".
func (c *Invocation) recoveryCommand(issue checkpoint.Issue) string {
	_, _, err := c.store.NewestValid(c.ctx, issue)
	var broken *gitstore.BrokenRefError
	switch {
	case err == nil:
		return "git checkpoint resume " + quoteArg(string(issue)) + " --fallback"
	case !errors.As(err, &broken) || broken.Last.IsZero():
		return ""
	}
	restore := fmt.Sprintf("git update-ref %s %s", quoteArg(broken.Ref), broken.Last)
	if broken.File != "" { // git does not overwrite an unreadable file
		restore = "rm -f " + quoteArg(broken.File) + " && " + restore
	}
	return restore
}
