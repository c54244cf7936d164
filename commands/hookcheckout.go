package commands

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/commands/internal/phrase"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// postCheckout notifies the user of a checkpoint for the branch that was checked out. Git
// passes the old HEAD, the new HEAD, and 1 for a branch switch or 0 for a file checkout.
// The old HEAD is all zeros if git created a worktree.
func (c *Invocation) postCheckout(args []string) error {
	if len(args) != 3 || args[2] != "1" || strings.Trim(args[0], "0") == "" {
		return nil
	}
	if c.env.Getenv("CI") != "" || c.env.Getenv("GIT_CHERRY_PICK_HELP") != "" || strings.HasPrefix(c.env.Getenv("GIT_REFLOG_ACTION"), "rebase") {
		return nil
	}
	if g := gitstore.ReadHookPrecheck(); g.IsForeign(g.Branch) {
		return nil
	}
	done, on, err := c.openQuickly()
	defer done()
	if err != nil || !on || c.settings.String("hooks.post_checkout") == "off" || c.rebasing() {
		return err
	}
	issue, ok := c.branchIssue()
	if !ok || !c.store.HasIssue(c.ctx, issue) {
		return nil
	}
	return c.tellOf(issue)
}

// rebasing reports whether a rebase is in progress, which runs checkouts itself.
func (c *Invocation) rebasing() bool {
	return slices.ContainsFunc([]string{"rebase-merge", "rebase-apply"}, func(name string) bool {
		_, err := os.Stat(filepath.Join(c.store.GitDir(), name))
		return err == nil
	})
}

// branchIssue returns the issue in the branch's name. Other sources of an issue are
// ignored.
func (c *Invocation) branchIssue() (checkpoint.Issue, bool) {
	branch, err := c.store.Branch(c.ctx)
	if err != nil || branch == "" {
		return "", false
	}
	return checkpoint.IssueFromBranch(branch, c.settings.Pattern("issue_pattern"))
}

// tellOf notifies the user whether the newest checkpoint can be resumed.
func (c *Invocation) tellOf(issue checkpoint.Issue) error {
	r, err := c.newest(issue)
	if errors.As(err, new(*gitstore.NoneError)) {
		return nil // a chain without checkpoints
	}
	if err != nil || standingOf(r.record, r.verdict).complete || onItsWay() {
		return err
	}
	name, saved := phrase.QuoteArg(string(issue)), phrase.Ago(r.record.CreatedAt(), c.env.Now())
	switch r.verdict.Action {
	case freshness.Resume, freshness.ProceedWithWarning:
		c.notify("issue %s was saved %s and can be resumed: git checkpoint resume %s", issue, saved, name)
	default:
		c.notify("issue %s was saved %s and is stale (%s): git checkpoint status %s", issue, saved, worst(r.verdict), name)
	}
	return nil
}

// newest returns the newest checkpoint of an issue with a verdict that needs no network.
func (c *Invocation) newest(issue checkpoint.Issue) (r judged, err error) {
	if r.cp, r.record, err = c.store.NewestRecord(c.ctx, issue); err != nil {
		return r, err
	}
	r.verdict, err = c.judge(r.cp, r.record)
	return r, err
}

// worst returns the first reason that leads to the verdict's action.
func worst(v freshness.Verdict) string {
	for _, reason := range v.Reasons {
		if reason.Action == v.Action {
			return reason.Message
		}
	}
	return v.Action.String()
}
