package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// prePush pushes the checkpoints of the issues whose branches are pushed, if
// hooks.pre_push is not off. It saves no checkpoint.
func prePush(c *invoke.Invocation, args []string) error {
	updates, err := hook.ParseUpdates(c.Input())
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(updates, func(u hook.Update) bool { return u.Branch() != "" }) { // without updates every ref is up to date
		return nil
	}
	if err := c.Open(); err != nil {
		return err
	}
	mode := c.Settings.String("hooks.pre_push")
	if mode == "off" || !c.Settings.Bool("enabled") {
		return nil
	}
	var issues []checkpoint.Issue
	for _, u := range updates {
		i, err := c.BranchIssue(u.Branch())
		pushesRef := func(u hook.Update) bool { return u.RemoteRef == gitstore.LiveRef(i) }
		// A push of the checkpoint ref itself, as with --mirror, expects the remote ref at its old value.
		if err == nil && !slices.Contains(issues, i) && !slices.ContainsFunc(updates, pushesRef) && c.Store.HasIssue(c.Ctx, i) {
			issues = append(issues, i)
		}
	}
	if len(issues) == 0 {
		return nil
	}
	// Git does not pass --dry-run to hooks. A command line that cannot be read counts as a real push.
	if _, dry := hook.IsDryPush(startedBy(func(argv []string) bool {
		push, _ := hook.IsDryPush(argv)
		return push
	})); dry {
		return nil
	}
	remote := "" // checkpoint.remote, or by default that of the push: git passes its name, or its URL twice
	if c.Settings.String("remote") != "" || len(args) == 0 {
		remote, err = c.Remote("")
	} else {
		remote, err = args[0], c.CheckRemoteSetting()
	}
	if err != nil {
		return err
	}
	err = pushAlong(c, remote, issues, pushedObjects(updates, len(args) > 0 && remote == args[0]))
	if err != nil && mode == "block" {
		return &blocked{code: work.PushCode(err), err: fmt.Errorf("the push is stopped, as hooks.pre_push: block wants: %w", err)}
	}
	return err
}

// pushedObjects returns the commits that the push sends. If the checkpoints go to the
// same remote, it also returns the commits that the remote has.
func pushedObjects(updates []hook.Update, same bool) (o gitstore.Exposed) {
	for _, u := range updates {
		if !u.Deletes() {
			o.Pushed = append(o.Pushed, u.Local)
		}
		if same && strings.Trim(u.Remote, "0") != "" {
			o.There = append(o.There, u.Remote)
		}
	}
	return o
}

// pushAlong pushes issues one by one within timeouts.hook. All messages are joined into
// one line.
func pushAlong(c *invoke.Invocation, remote string, issues []checkpoint.Issue, e gitstore.Exposed) error {
	budget := time.Duration(c.Settings.Int("timeouts.hook")) * time.Second
	ctx, cancel := context.WithTimeout(c.Ctx, budget)
	defer cancel()
	c.Ctx = ctx
	os.Setenv(skipVariable, "1") // inherited by every git process from here on
	var said, wrong []string
	var first error
	for _, i := range issues {
		if c.Detached {
			break
		}
		// After the time limit this process and its git processes are about to end. git stops its
		// child processes first, and a child may ignore that.
		text, late, err := invoke.Await(c.Ctx, 300*time.Millisecond, func() (string, error) { return pushIssue(c, remote, i, e) })
		c.Detached = c.Detached || late
		if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("issue %s: not within %s", i, budget)
		}
		switch {
		case err != nil:
			wrong = append(wrong, err.Error())
			if first == nil {
				first = err
			}
		case text != "":
			said = append(said, text)
		}
	}
	if first == nil {
		if len(said) > 0 {
			notify(c, "%s", strings.Join(said, "; "))
		}
		return nil
	}
	return &pushError{text: strings.Join(append(wrong, said...), "; "), first: first}
}

// A pushError combines the errors of the issues that could not be pushed.
type pushError struct {
	text  string
	first error
}

func (e *pushError) Error() string { return e.text }
func (e *pushError) Unwrap() error { return e.first }

// pushIssue pushes one chain if its gate lets it pass. It returns a message for the user.
func pushIssue(c *invoke.Invocation, remote string, i checkpoint.Issue, e gitstore.Exposed) (string, error) {
	gate := &work.Gate{Invocation: c, Remote: remote, Silent: true}
	req := gitstore.PushRequest{Remote: remote, Issues: []checkpoint.Issue{i}, Quiet: true, Exposed: e}
	gate.Check(&req)
	done, err := c.Store.Push(c.Ctx, req)
	if err != nil {
		return "", fmt.Errorf("issue %s: %w", i, err)
	}
	for _, d := range done {
		if d.Err != nil {
			return "", d.Err
		}
		if d.Pushed > 0 {
			return fmt.Sprintf("pushed %s of issue %s%s", view.Plural(d.Pushed, "checkpoint"), i, contents(gate)), nil
		}
	}
	return "", nil
}

// contents names the untracked files and the secret that a push has made public.
func contents(gate *work.Gate) (text string) {
	if n := len(gate.Untracked); n > 0 {
		text += ", with " + view.Plural(n, "untracked file")
	}
	if s := gate.Secret; s != nil {
		text += fmt.Sprintf(", with a possible secret: %s in %s", s.Rule, s.Path)
	}
	return text
}
