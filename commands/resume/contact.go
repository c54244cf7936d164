package resume

import (
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/terminal"
	"git-checkpoint/commands/internal/view"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
)

// The first resume in a new clone is one command and one question. If this clone has no
// checkpoint of the issue, resume fetches the issue. If this clone has no branch of the
// checkpoint's name, resume offers to switch to that branch: it is created as git switch
// would do it, so no work of another branch is mixed with the files of the checkpoint.

// fetchUnknown fetches the issue of a resume if this clone has no checkpoint of it. If the
// remote has none either, or does not answer, the error about the missing checkpoint has the
// reason.
func fetchUnknown(c *invoke.Invocation, o *resumeOptions) error {
	if o.judge.Issue.Offline {
		return nil
	}
	issue, err := issueToFetch(c)
	if err != nil || c.Store.HasIssue(c.Ctx, issue) {
		return nil // resume reports the error
	}
	remotes, err := c.FetchRemotes("", issue)
	if err != nil {
		return nil
	}
	names := view.ShownRemotes(remotes)
	if o.dryRun {
		c.Subject.Unfetched = "a dry run fetches nothing from " + names
		return nil
	}
	t := c.TickRemote("resume: fetch from " + names)
	n, err := fetchIssue(c, issue, remotes, !terminal.Has())
	t.End()
	switch {
	case c.Ctx.Err() != nil:
		return c.Ctx.Err()
	case err != nil:
		c.Subject.Unfetched = err.Error()
	case n == 0:
		c.Subject.Unfetched = names + map[bool]string{true: " has none", false: " have none"}[len(remotes) == 1]
		c.Subject.RemoteAnswered = true
	}
	return nil
}

// fetchIssue fetches an issue and returns the number of fetched checkpoints. quiet forbids
// git to ask for a password. If one of several remotes does not answer, the others count.
func fetchIssue(c *invoke.Invocation, issue checkpoint.Issue, remotes []string, quiet bool) (n int, err error) {
	done, err := work.Fetch(c.Ctx, c, remotes, gitstore.FetchRequest{
		Issues: []checkpoint.Issue{issue}, Timeout: c.RemoteTimeout(), Quiet: quiet,
	})
	if err != nil && len(done) > 0 {
		c.Warnf("%v", err)
		err = nil
	}
	for _, s := range done {
		switch {
		case s.Result == gitstore.Diverged:
			c.Warnf("%v", s.Err)
		case s.Err != nil:
			return n, s.Err
		case s.Fetched > 0:
			n += s.Fetched
			c.Infof("fetched %s of issue %s from %s", view.Plural(s.Fetched, "checkpoint"), s.Issue, view.ShownRemotes(remotes))
		}
	}
	return n, err
}

// lacksBranch reports whether HEAD is on another branch than the checkpoint's, which this
// clone does not have.
func (r *resumption) lacksBranch() bool {
	return r.Verdict.Other.IsElsewhere() && !r.options.leavesFiles()
}

// isContact reports whether the question about the branch is the only one: the clone lacks the
// branch, and the command line answers nothing.
func (r *resumption) isContact() bool {
	return r.lacksBranch() && r.options.as == "" && r.options.choice == ""
}

// switchContact switches to the branch of the checkpoint after --yes, if this clone does not have
// the branch. It reports whether it switches. A worktree with uncommitted changes keeps its branch,
// and a dry run only prints the branch.
func switchContact(c *invoke.Invocation, r *resumption) (bool, error) {
	changed, err := c.Store.Files.Uncommitted(c.Ctx)
	if err != nil || len(changed) > 0 || r.Verdict.Action == freshness.StartFresh {
		return false, err // the question about the branch stays
	}
	if r.options.dryRun {
		c.Infof("would switch to branch %s", r.Home())
		return true, nil
	}
	return true, goHome(c, r)
}
