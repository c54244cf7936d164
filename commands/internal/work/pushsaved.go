package work

import (
	"cmp"
	"errors"
	"fmt"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/terminal"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
)

// required is the value of --push and of the setting push with which a command fails if its push
// fails.
const required = "required"

// WantsPush reports whether a new checkpoint is pushed. push is the value of --push.
func WantsPush(c *invoke.Invocation, push invoke.Optional) bool {
	return push.Given() || c.Settings.String("push") != "never"
}

// PushFailure returns the error of a command whose push failed after a save, or nil if the push is not
// required.
func PushFailure(c *invoke.Invocation, push invoke.Optional, err error) error {
	if err == nil || push != required && c.Settings.String("push") != required {
		return nil
	}
	hint := ""
	if by, ok := failure.Of(err); ok {
		_, hint = by.Exit()
	}
	return failure.Errorf(PushCode(err), hint, "%s: %s", c.Line.Name, NotPushed(err))
}

// PushCode returns one of two exit codes for a push that did not happen.
func PushCode(err error) int {
	if errors.As(err, new(*SecretsError)) {
		return failure.Secrets
	}
	return failure.Remote
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
		_, hint := secrets.Exit()
		return fmt.Sprintf("%s: %s; %s lists it", kept, secrets.why(), hint)
	case errors.As(err, &by):
		return fmt.Sprintf("%s: %s; %s", kept, by.why, by.next)
	case errors.As(err, &remote) && remote.Refused:
		return fmt.Sprintf("%s: %v", kept, err)
	}
	return fmt.Sprintf("%s; the next push includes it: %v", kept, err)
}

// PushSaved pushes an issue after a save. Unless the push is required, an error becomes a warning, because the
// checkpoint is saved. The warning is printed with --quiet too, since the clone may not live until the next
// push. For the hook of an agent a process in the background pushes, and status shows the error.
func PushSaved(c *invoke.Invocation, issue checkpoint.Issue, push invoke.Optional) error {
	if c.Env.InHook && !push.Given() && c.Store.MayDetach() &&
		c.Store.Notes.Touch(pushDue+issue.RefName(), c.Env.Now()) == nil && inBackground(c, PushHook) == nil {
		return nil
	}
	err := PushIssue(c, issue, push, push.Given())
	failed := PushFailure(c, push, err)
	if err != nil && failed == nil {
		c.WarnAlways("%s", NotPushed(err))
	}
	return failed
}

// PushMissed repeats a failed push after a save without changes.
func PushMissed(c *invoke.Invocation, issue checkpoint.Issue, o *SaveOptions) error {
	if o.DryRun || !WantsPush(c, o.Push) {
		return nil
	}
	return PushSaved(c, issue, o.Push)
}

// PushIssue synchronizes an issue with the remote of --push, or with the remote of the settings.
// So a push after a save succeeds even if another clone pushed first: both chains are merged.
// Only if ask is set, git asks for a password, and a person for unpublished commits.
func PushIssue(c *invoke.Invocation, issue checkpoint.Issue, push invoke.Optional, ask bool) error {
	name := push.Value()
	if name == required {
		name = ""
	}
	remote, err := c.Remote(name, issue)
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
		if err = cmp.Or(err, s.Err); err == nil && s.Result == gitstore.Ahead {
			err = &gitstore.RemoteError{Op: "push", Remote: gitstore.ShownRemote(remote), Reason: "a bundle file, which a push does not change", Refused: true}
		}
	}
	var refused *gitstore.RemoteError
	if errors.As(err, &refused) {
		refused.Op = "push" // the user asked for a push
	}
	return err
}
