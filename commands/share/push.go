package share

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/pushing"
	"git-checkpoint/commands/internal/terminal"
	"git-checkpoint/gitstore"

	"github.com/urfave/cli/v2"
)

// PushCommand declares git checkpoint push.
var PushCommand = invoke.Command{
	Name: "push", Usage: "send an issue's checkpoints to a remote", Args: "[ISSUE]", Max: 1, Category: "Share",
	Description: "Moves the remote's ref where it is as it was seen, and only to a chain that has\n" +
		"all that the remote's has. Nobody's checkpoints are overwritten. A secret stops\n" +
		"the push, and commits that a checkpoint carries and nobody else has are named first.",
	Examples: []string{"git checkpoint push 42", "git checkpoint push --all --dry-run"},
	Flags: func() []cli.Flag {
		return append(shareFlags(), publishFlag())
	},
	Run: runPush,
}

func runPush(c *invoke.Invocation) error {
	if err := c.Open(); err != nil {
		return err
	}
	remote, issues, err := toShare(c, "push")
	if err != nil {
		return err
	}
	t := c.Tick("push: " + gitstore.ShownRemote(remote))
	done, err := pushing.Push(c, gitstore.PushRequest{
		Remote: remote, Issues: issues, Timeout: c.RemoteTimeout(), DryRun: c.Flags.Bool("dry-run"),
		Quiet: !terminal.Has(), Progress: t.At,
	}, t.End)
	t.End()
	return showShared(c, "push", remote, done, err)
}

func publishFlag() cli.Flag {
	return &cli.BoolFlag{Name: "yes", Usage: "publish commits that nobody else has, too, without asking"}
}
