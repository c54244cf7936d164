package hooks

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
)

// postCheckout notifies the user of a checkpoint for the branch that was checked out. Git
// passes the old HEAD, the new HEAD, and 1 for a branch switch or 0 for a file checkout.
// The old HEAD is all zeros if git created a worktree.
func postCheckout(c *invoke.Invocation, args []string) error {
	if len(args) != 3 || args[2] != "1" || strings.Trim(args[0], "0") == "" {
		return nil
	}
	if c.Env.Getenv("CI") != "" || c.Env.Getenv("GIT_CHERRY_PICK_HELP") != "" || strings.HasPrefix(c.Env.Getenv("GIT_REFLOG_ACTION"), "rebase") {
		return nil
	}
	done, on, err := openQuickly(c, c.Open)
	defer done()
	if err != nil || !on || c.Settings.String("hooks.post_checkout") == "off" {
		return err
	}
	for _, rebase := range []string{"rebase-merge", "rebase-apply"} {
		if _, err := os.Stat(filepath.Join(c.Store.GitDir(), rebase)); err == nil {
			return nil // the rebase in progress runs checkouts itself
		}
	}
	branch, err := c.Store.Branch(c.Ctx)
	if err != nil || branch == "" {
		return nil
	}
	issue, err := c.BranchIssue(branch) // other sources of an issue are ignored
	if err != nil || !c.Store.HasIssue(c.Ctx, issue) {
		return nil
	}
	r, err := work.Newest(c, issue, work.JudgeOptions{Issue: work.IssueOptions{Offline: true}})
	if errors.As(err, new(*gitstore.NoneError)) {
		return nil // a chain without checkpoints
	}
	if err != nil || r.Verdict.At.Complete || onItsWay() {
		return err
	}
	name, saved, why := view.IssueArg(issue), view.Ago(r.Record.CreatedAt(), c.Env.Now()), r.Verdict.Action.String()
	if reasons := r.Verdict.WorstFirst(); len(reasons) > 0 {
		why = reasons[0].Message
	}
	switch r.Verdict.Action {
	case freshness.Resume, freshness.ProceedWithWarning:
		notify(c, "issue %s was saved %s and can be resumed: git checkpoint resume %s", issue, saved, name)
	default:
		notify(c, "issue %s was saved %s and is stale (%s): git checkpoint status %s", issue, saved, why, name)
	}
	return nil
}

// startedBy returns the command line of the nearest ancestor process for which found
// returns true. It returns nil if there is none or if a process cannot be inspected.
func startedBy(found func(argv []string) bool) []string {
	pid := os.Getppid()
	// A hook manager may run between git and this process.
	for range 12 {
		argv, parent := process(pid)
		if argv == nil {
			return nil
		}
		if found(argv) {
			return argv
		}
		pid = parent
	}
	return nil
}

// onItsWay reports whether an ancestor git command runs the checkout as one of its steps:
// a rebase, a pull or a bisection.
func onItsWay() bool {
	name, _ := hook.GitCommand(startedBy(func(argv []string) bool {
		name, _ := hook.GitCommand(argv)
		return name != "" && name != "hook" && name != "checkpoint"
	}))
	return name != "" && name != "checkout" && name != "switch"
}
