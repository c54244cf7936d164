package pushing

import (
	"cmp"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/terminal"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

// Flag returns the --push flag of the commands that save.
func Flag() cli.Flag {
	return invoke.OptionalFlag{StringFlag: &cli.StringFlag{Name: "push", Usage: "then push the issue's checkpoints, to `REMOTE` or the configured one"}}
}

// Wanted reports whether a new checkpoint is pushed.
func Wanted(c *invoke.Invocation) bool {
	return c.Flags.IsSet("push") || c.Settings.String("push") == "auto"
}

// NotPushed is the warning about a push that failed after a save.
const NotPushed = "not pushed, the next push tries again: %v"

// Saved pushes an issue after a save. An error becomes a warning: the checkpoint is
// saved, and the next push includes it. A quiet push does not ask for a password.
func Saved(c *invoke.Invocation, issue checkpoint.Issue, quiet bool) {
	if err := Issue(c, issue, quiet); err != nil {
		c.Warnf(NotPushed, err)
	}
}

// Missed repeats a failed push after a save without changes.
func Missed(c *invoke.Invocation, issue checkpoint.Issue) {
	if Wanted(c) && !c.Flags.Bool("dry-run") {
		Saved(c, issue, !c.Flags.IsSet("push"))
	}
}

// Issue pushes an issue to the remote of --push or of the settings.
func Issue(c *invoke.Invocation, issue checkpoint.Issue, quiet bool) error {
	named := c.Flags.String("push")
	if named == invoke.LeftOut {
		named = ""
	}
	remote, err := c.Remote(named)
	if err != nil {
		return err
	}
	done, err := Push(c, gitstore.PushRequest{
		Remote: remote, Issues: []checkpoint.Issue{issue}, Timeout: c.RemoteTimeout(), Quiet: quiet || !terminal.Has(),
	}, nil)
	for _, s := range done {
		err = cmp.Or(err, s.Err)
	}
	return err
}
