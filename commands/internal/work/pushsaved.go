package work

import (
	"cmp"
	"errors"
	"fmt"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/terminal"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/urfave/cli/v2"
)

// PushFlag returns the --push flag of the commands that save.
func PushFlag() cli.Flag {
	return invoke.OptionalFlag{StringFlag: &cli.StringFlag{Name: "push", Usage: "then push the issue's checkpoints, to `REMOTE` or the configured one, by the rules of push"}}
}

// PushOptions are the flags of the push after a save.
type PushOptions struct {
	Push   bool   // --push is given
	Remote string // remote of --push, or "" for the configured remote
	DryRun bool   // the save is a dry run
}

// ReadPushOptions returns the value of --push.
func ReadPushOptions(c *invoke.Invocation, dryRun bool) PushOptions {
	remote := c.Flags.String("push")
	o := PushOptions{Push: remote != "", Remote: remote, DryRun: dryRun}
	if remote == invoke.LeftOut {
		o.Remote = ""
	}
	return o
}

// WantsPush reports whether a new checkpoint is pushed.
func WantsPush(c *invoke.Invocation, o PushOptions) bool {
	return !o.DryRun && (o.Push || c.Settings.String("push") == "auto")
}

// NotPushed returns the message about a push that failed after a save. If the gate or the
// remote has stopped the push, the message promises nothing about the next push.
func NotPushed(err error) string {
	const kept = "not pushed, only saved in this clone"
	var by *refusal
	var secrets *SecretsError
	var remote *gitstore.RemoteError
	switch {
	case errors.As(err, &secrets):
		return fmt.Sprintf("%s: %s; %s lists it", kept, secrets.why(), secrets.ExitHint())
	case errors.As(err, &by):
		return fmt.Sprintf("%s: %s; %s", kept, by.why, by.next)
	case errors.As(err, &remote) && remote.Refused:
		return fmt.Sprintf("%s: %v", kept, err)
	}
	return fmt.Sprintf("%s; the next push includes it: %v", kept, err)
}

// PushSaved pushes an issue after a save. An error becomes a warning, because the checkpoint is
// saved. The warning is printed with --quiet too, since the clone may not live until the next
// push.
func PushSaved(c *invoke.Invocation, issue checkpoint.Issue, o PushOptions) {
	if err := PushIssue(c, issue, o, o.Push); err != nil {
		c.WarnAlways("%s", NotPushed(err))
	}
}

// PushMissed repeats a failed push after a save without changes.
func PushMissed(c *invoke.Invocation, issue checkpoint.Issue, o PushOptions) {
	if WantsPush(c, o) {
		PushSaved(c, issue, o)
	}
}

// PushIssue synchronizes an issue with the remote of --push, or with the remote of the settings.
// So a push after a save succeeds even if another clone pushed first: both chains are merged.
// Only if ask is set, git asks for a password, and a person for unpublished commits.
func PushIssue(c *invoke.Invocation, issue checkpoint.Issue, o PushOptions, ask bool) error {
	remote, err := c.Remote(o.Remote)
	if err != nil {
		return err
	}
	gate := &Gate{Invocation: c, Remote: remote, Ask: ask}
	req := gitstore.SyncRequest{
		Remote: remote, Issues: []checkpoint.Issue{issue}, Timeout: c.RemoteTimeout(), Quiet: !ask || !terminal.Has(),
	}
	gate.Check(&req)
	t := c.TickRemote("push: " + gitstore.ShownRemote(remote))
	done, err := c.Store.Sync(c.Ctx, req)
	t.End()
	gate.Report(done)
	for _, s := range done {
		err = cmp.Or(err, s.Err)
	}
	var refused *gitstore.RemoteError
	if errors.As(err, &refused) {
		refused.Op = "push" // the user asked for a push
	}
	return err
}
