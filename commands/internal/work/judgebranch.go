package work

import (
	"os"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/freshness"
	"git-checkpoint/gitstore"
)

// branchFact compares the current branch with the checkpoint's. The branch of the options
// may replace the checkpoint's.
func branchFact(c *invoke.Invocation, cp *gitstore.Checkpoint, o JudgeOptions) freshness.Branch {
	if cp.Branch == "" {
		return freshness.Branch{State: freshness.BranchUnchecked}
	}
	now, err := c.CurrentBranch()
	if err != nil {
		return freshness.Branch{Why: err.Error()}
	}
	now = gitstore.RecordedBranch(now)
	if o.Branch != "" && o.Branch != cp.Branch && (now == "" || now == o.Branch) {
		return freshness.Branch{State: freshness.BranchReplaced, Name: o.Branch}
	}
	b, err := c.Store.Facts.FindBranch(c.Ctx, cp.Branch, cp.Saved)
	if err != nil {
		return freshness.Branch{Why: err.Error()}
	}
	f := missingBranch(c, cp, b, o)
	switch {
	case f.State == freshness.BranchGone:
		return f
	case now != "" && now != cp.Branch && now != b.Name:
		other := freshness.Branch{State: freshness.BranchOther, Name: now, Remote: f.Remote, At: f.At, Became: f.Name}
		if f.State == freshness.BranchExists {
			other.Exists = true
			if place := c.Store.Facts.CheckedOut(c.Ctx, cp.Branch); isDir(place) {
				other.Place = place
			}
		}
		return other
	}
	return f
}

// missingBranch returns the fact about the branch of the checkpoint, whatever HEAD is.
func missingBranch(c *invoke.Invocation, cp *gitstore.Checkpoint, b gitstore.BranchReport, o JudgeOptions) freshness.Branch {
	switch {
	case b.Exists:
		return freshness.Branch{State: freshness.BranchExists}
	case b.Name != "":
		return freshness.Branch{State: freshness.BranchRenamed, Name: b.Name}
	}
	f := freshness.Branch{State: freshness.BranchUnseen}
	if len(b.Remote) > 0 {
		f.Remote = b.Remote[0]
	}
	if !b.Once && !c.Store.Facts.SavedHere(c.Ctx, cp) {
		return f
	}
	if f.Remote == "" {
		f.At = atRemote(c, cp.Branch, o)
	}
	f.State = freshness.BranchRemote
	if f.Remote == "" && f.At == "" {
		f.State = freshness.BranchGone
	}
	return f
}

// maxAskRemote limits the time for a question to the remote.
const maxAskRemote = 10 * time.Second

// atRemote returns the remote that has a branch without a remote-tracking branch here, or
// "". A remote that does not answer in time counts as one without the branch, since the
// traces in this clone show that the branch was deleted.
func atRemote(c *invoke.Invocation, branch string, o JudgeOptions) string {
	if o.Issue.Offline || o.Issue.Recent {
		return ""
	}
	remote, err := c.Remote("")
	if err != nil {
		return ""
	}
	limit := c.RemoteTimeout()
	if limit == 0 || limit > maxAskRemote {
		limit = maxAskRemote
	}
	if has, err := c.Store.RemoteHasBranch(c.Ctx, remote, branch, limit); err != nil || !has {
		return ""
	}
	return remote
}

// isDir reports whether a path is a directory: a worktree may have been removed without
// git.
func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
