package share

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
)

// PushCommand declares git checkpoint push.
var PushCommand = invoke.Command{
	Name: "push", Usage: "push an issue's checkpoints to a remote", Args: "[ISSUE]", Max: 1, Category: "Share",
	Description: "Pushes with a lease on the last known value of the remote ref, and never overwrites\n" +
		"checkpoints: sync joins chains that have diverged. If checkpoints were archived, the\n" +
		"archive is pushed too. A secret stops the push. If the push would publish commits that\n" +
		"the remote does not have, push asks; without a terminal it exits with 5. --yes pushes.\n" +
		"The untracked files that the push makes public are named. The same rules apply to sync,\n" +
		"to save --push and run --push, and to the pre-push hook, which does not ask.",
	Examples: []string{"git checkpoint push 42", "git checkpoint push --all --dry-run"},
	New:      invoke.Bind((*options).pushFlags, runPush),
}

func runPush(c *invoke.Invocation, o *options) error {
	if err := o.open(c); err != nil {
		return err
	}
	t := c.TickRemote("push: " + gitstore.ShownRemote(o.remote))
	gate, req := o.gate(c), o.request(c, t.At)
	gate.Check(&req)
	done, err := c.Store.Push(c.Ctx, req)
	t.End()
	gate.Report(done)
	warnOtherURLs(c, o)
	return showShared(c, "push", o, gate.Untracked, done, err)
}

// warnOtherURLs names the push URLs of the remote that got nothing, and the command that
// exchanges checkpoints with each of them.
func warnOtherURLs(c *invoke.Invocation, o *options) {
	issue := "--all"
	if len(o.issues) == 1 {
		issue = view.IssueArg(o.issues[0])
	}
	for _, url := range c.Store.OtherPushURLs(c.Ctx, o.remote) {
		c.Warnf("%s has several push URLs, and checkpoints are pushed to one of them, not to %s", gitstore.ShownRemote(o.remote), gitstore.ShownRemote(url))
		if gitstore.ShownRemote(url) != url {
			c.Infof("hint: git remote get-url --push --all %s", view.QuoteArg(o.remote))
			continue
		}
		c.Infof("hint: git checkpoint sync %s --remote %s", issue, view.QuoteArg(url))
	}
}

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
	t := c.TickRemote("fetch: " + view.ShownRemotes(o.remotes))
	done, err := work.Fetch(c.Ctx, c, o.remotes, o.request(c, t.At))
	t.End()
	return showShared(c, "fetch", o, nil, done, err)
}
