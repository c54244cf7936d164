package invoke

import (
	"errors"
	"fmt"

	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// RecoveryCommand returns the command that recovers from the damage, or "".
func RecoveryCommand(c *Invocation, issue checkpoint.Issue) string {
	_, _, err := c.Store.NewestValid(c.Ctx, issue)
	var broken *gitstore.BrokenRefError
	switch {
	case err == nil:
		return "git checkpoint resume " + phrase.QuoteArg(string(issue)) + " --fallback"
	case !errors.As(err, &broken) || broken.Last.IsZero():
		return ""
	}
	restore := fmt.Sprintf("git update-ref %s %s", phrase.QuoteArg(broken.Ref), broken.Last)
	if broken.File != "" { // git does not overwrite an unreadable file
		restore = "rm -f " + phrase.QuoteArg(broken.File) + " && " + restore
	}
	return restore
}
