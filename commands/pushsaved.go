package commands

import (
	"git-checkpoint/commands/terminal"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

// pushFlag is --push of the commands that save.
func pushFlag() cli.Flag {
	return optionalFlag{&cli.StringFlag{Name: "push", Usage: "then push the issue's checkpoints, to `REMOTE` or the configured one"}}
}

// pushes reports whether what is saved is to be pushed.
func (c *Invocation) pushes() bool {
	return c.flags.IsSet("push") || c.settings.String("push") == "auto"
}

const notPushed = "not pushed, the next push tries again: %v"

// pushSaved pushes an issue after a save. What goes wrong is a warning: the
// checkpoint is saved, and the next push takes it along. A quiet one asks
// nobody for a password.
func (c *Invocation) pushSaved(issue checkpoint.Issue, quiet bool) {
	if err := c.tryPush(issue, quiet); err != nil {
		c.warnf(notPushed, err)
	}
}

// pushMissed pushes after a save that found nothing new, where an earlier push
// failed.
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
		err = orElse(err, s.Err)
	}
	return err
}
