package pushing

import (
	"cmp"
	"errors"

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

// Options are the flags of the push after a save.
type Options struct {
	Push   bool   // --push is given
	Remote string // remote of --push, or "" for the configured remote
	DryRun bool   // the save is a dry run
}

// ReadOptions returns the value of --push.
func ReadOptions(c *invoke.Invocation, dryRun bool) Options {
	remote := c.Flags.String("push")
	o := Options{Push: remote != "", Remote: remote, DryRun: dryRun}
	if remote == invoke.LeftOut {
		o.Remote = ""
	}
	return o
}

// Wanted reports whether a new checkpoint is pushed.
func Wanted(c *invoke.Invocation, o Options) bool {
	return !o.DryRun && (o.Push || c.Settings.String("push") == "auto")
}

// NotPushed is the message about a push that failed after a save.
const NotPushed = "not pushed, only saved in this clone; the next push includes it: %v"

// Saved pushes an issue after a save. An error becomes a warning: the checkpoint is
// saved, and the next push includes it. The warning is printed with --quiet too, since
// the clone may not live until the next push. Only with --push may git ask for a password.
func Saved(c *invoke.Invocation, issue checkpoint.Issue, o Options) {
	if err := Issue(c, issue, o.Remote, !o.Push); err != nil {
		c.WarnAlways(NotPushed, err)
	}
}

// Missed repeats a failed push after a save without changes.
func Missed(c *invoke.Invocation, issue checkpoint.Issue, o Options) {
	if Wanted(c, o) {
		Saved(c, issue, o)
	}
}

// Issue synchronizes an issue with the named remote, or with the remote of the settings.
// So a push after a save succeeds even if another clone pushed first: both chains are
// merged. A quiet push does not ask for a password.
func Issue(c *invoke.Invocation, issue checkpoint.Issue, named string, quiet bool) error {
	remote, err := c.Remote(named)
	if err != nil {
		return err
	}
	check := &ExposureCheck{Invocation: c}
	t := c.TickRemote("push: " + gitstore.ShownRemote(remote))
	done, err := c.Store.Sync(c.Ctx, gitstore.SyncRequest{
		Remote: remote, Issues: []checkpoint.Issue{issue}, Timeout: c.RemoteTimeout(), Quiet: quiet || !terminal.Has(),
		Harmless: check.Unobjectionable,
		May: func(i checkpoint.Issue, out gitstore.Outgoing) error {
			return check.MayShow(remote, i, out, false)
		},
	})
	t.End()
	check.TellPointers(remote, done)
	for _, s := range done {
		err = cmp.Or(err, s.Err)
	}
	var refused *gitstore.RemoteError
	if errors.As(err, &refused) {
		refused.Op = "push" // the user asked for a push
	}
	return err
}
