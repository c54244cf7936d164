package commands

import (
	"cmp"

	"git-checkpoint/commands/terminal"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

// pushFlag returns the --push flag of the commands that save.
func pushFlag() cli.Flag {
	return optionalFlag{&cli.StringFlag{Name: "push", Usage: "then push the issue's checkpoints, to `REMOTE` or the configured one"}}
}

// pushes reports whether a new checkpoint is pushed.
func (c *Invocation) pushes() bool {
	return c.flags.IsSet("push") || c.settings.String("push") == "auto"
}

const notPushed = "not pushed, the next push tries again: %v"

// pushSaved pushes an issue after a save. An error becomes a warning: the checkpoint is
// saved, and the next push includes it. A quiet push does not ask for a password.
func (c *Invocation) pushSaved(issue checkpoint.Issue, quiet bool) {
	if err := c.tryPush(issue, quiet); err != nil {
		c.warnf(notPushed, err)
	}
}

// pushMissed repeats a failed push after a save without changes.
func (c *Invocation) pushMissed(issue checkpoint.Issue) {
	if c.pushes() && !c.flags.Bool("dry-run") {
		c.pushSaved(issue, !c.flags.IsSet("push"))
	}
}

func (c *Invocation) tryPush(issue checkpoint.Issue, quiet bool) error {
	named := c.flags.String("push")
	if named == leftOut {
		named = ""
	}
	remote, err := c.remote(named)
	if err != nil {
		return err
	}
	done, err := c.push(gitstore.PushRequest{
		Remote: remote, Issues: []checkpoint.Issue{issue}, Timeout: c.remoteTimeout(), Quiet: quiet || !terminal.Has(),
	}, nil)
	for _, s := range done {
		err = cmp.Or(err, s.Err)
	}
	return err
}
