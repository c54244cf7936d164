package share

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore"
)

// FetchCommand declares git checkpoint fetch.
var FetchCommand = invoke.Command{
	Name: "fetch", Usage: "fetch an issue's checkpoints from a remote", Args: "[ISSUE]", Max: 1, Category: "Share",
	Description: "A local chain is fast-forwarded to the remote's chain. A chain that has diverged stays\n" +
		"as it is, and the remote's chain is under refs/git-checkpoint/remote/.",
	Examples: []string{"git checkpoint fetch 42", "git checkpoint fetch --all --remote backup"},
	New:      invoke.Bind((*options).flags, runFetch),
}

func runFetch(c *invoke.Invocation, o *options) error {
	if err := o.open(c); err != nil {
		return err
	}
	t := c.TickRemote("fetch: " + gitstore.ShownRemote(o.remote))
	done, err := c.Store.Fetch(c.Ctx, o.request(c, t.At))
	t.End()
	return showShared(c, "fetch", o, nil, done, err)
}
