package commands

import "git-checkpoint/gitstore"

var pushCommand = command{
	name: "push", usage: "send an issue's checkpoints to a remote", args: "[ISSUE]", max: 1, category: "Share",
	description: "Moves the remote's ref where it is as it was seen, and only to a chain that has\n" +
		"all that the remote's has. Nobody's checkpoints are overwritten.",
	examples: []string{"git checkpoint push 42", "git checkpoint push --all --dry-run"},
	flags:    shareFlags,
	run:      runPush,
}

func runPush(c *call) error {
	if err := c.open(); err != nil {
		return err
	}
	remote, issues, err := c.toShare()
	if err != nil {
		return err
	}
	done, err := c.store.Push(c.ctx, gitstore.PushRequest{
		Remote: remote, Issues: issues, Timeout: c.remoteTimeout(), DryRun: c.flags.Bool("dry-run"),
	})
	return c.showShared(remote, done, err)
}
