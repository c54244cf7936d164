package commands

import (
	"git-checkpoint/commands/terminal"
	"git-checkpoint/gitstore"

	"github.com/urfave/cli/v2"
)

var pushCommand = command{
	name: "push", usage: "send an issue's checkpoints to a remote", args: "[ISSUE]", max: 1, category: "Share",
	description: "Moves the remote's ref where it is as it was seen, and only to a chain that has\n" +
		"all that the remote's has. Nobody's checkpoints are overwritten. A secret stops\n" +
		"the push, and commits that a checkpoint carries and nobody else has are named first.",
	examples: []string{"git checkpoint push 42", "git checkpoint push --all --dry-run"},
	flags: func() []cli.Flag {
		return append(shareFlags(), publishFlag())
	},
	run: runPush,
}

func runPush(c *Invocation) error {
	if err := c.open(); err != nil {
		return err
	}
	remote, issues, err := c.toShare()
	if err != nil {
		return err
	}
	t := c.tick("push: " + gitstore.ShownRemote(remote))
	done, err := c.push(gitstore.PushRequest{
		Remote: remote, Issues: issues, Timeout: c.remoteTimeout(), DryRun: c.flags.Bool("dry-run"),
		Quiet: !terminal.Has(), Progress: t.at,
	}, t.end)
	t.end()
	return c.showShared(remote, done, err)
}

func publishFlag() cli.Flag {
	return &cli.BoolFlag{Name: "yes", Usage: "publish commits that nobody else has, too, without asking"}
}
