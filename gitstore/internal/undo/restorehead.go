package undo

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/internal/capture"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/facts"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
)

// checkPlace fails if the current state is unsuitable for the checkpoint's files: a git
// operation such as a rebase is in progress, HEAD is on another branch, or HEAD does not
// contain the checkpoint's commit.
func (s *Restorer) checkPlace(ctx context.Context, req *RestoreRequest, st *capture.Stored) error {
	if req.Force {
		return nil
	}
	if err := s.checkIdle(ctx, st); err != nil {
		return err
	}
	if !req.AnyBranch {
		if err := s.checkBranch(ctx, req); err != nil {
			return err
		}
	}
	if req.AnyHead {
		return nil
	}
	return s.checkHead(ctx, req.Checkpoint, st)
}

// checkBranch fails if HEAD is on another branch than the checkpoint's, even if both
// branches are at the same commit.
func (s *Restorer) checkBranch(ctx context.Context, req *RestoreRequest) error {
	c := req.Checkpoint
	head, err := s.ReadHead(ctx)
	now := facts.RecordedBranch(cmp.Or(head.Branch, req.Branch))
	if err != nil || c.Branch == "" || now == "" || now == c.Branch {
		return err
	}
	b, err := s.FindBranch(ctx, c.Branch, c.Created)
	if err != nil || !b.Exists && b.Name == now {
		return err
	}
	refused := &repo.RefusedError{Reason: fmt.Sprintf("the checkpoint is of branch %s, and HEAD is on %s; --yes restores it here", c.Branch, now)}
	switch place := s.CheckedOut(ctx, c.Branch); {
	case place != "":
		refused.Hint = "cd " + repo.ShellQuote(place)
	case b.Exists:
		refused.Hint = "git switch " + repo.ShellQuote(c.Branch)
	default:
		refused.Hint = fmt.Sprintf("git switch -c %s %s^2^", repo.ShellQuote(c.Branch), c.Commit.String()[:12])
	}
	return refused
}

// checkIdle fails during a merge, rebase or similar operation. As an exception, it
// accepts a checkpoint that was saved during the same merge on the same HEAD. So work can
// continue after a crash. The conflict stages are restored as well.
//
// If the checkpoint was saved during a merge that has ended, its files and conflict
// stages are restored too. No new merge is started. Restored.Merging contains the merge
// commits for git update-ref MERGE_HEAD, which makes the next commit a merge.
func (s *Restorer) checkIdle(ctx context.Context, st *capture.Stored) error {
	what := s.Info.UnderWay()
	if what == "" {
		return nil
	}
	if what == "merge" && slices.Equal(s.Info.MergeHeads(), st.Record.Snapshot().MergeHead) {
		if now, err := s.ReadHead(ctx); err == nil && now.Commit == st.Head {
			return nil
		}
	}
	return &repo.RefusedError{Reason: fmt.Sprintf("a %s is under way", what), Hint: fmt.Sprintf("git %s --continue", what)}
}

// merging returns the commits of the merge in which a checkpoint was saved, or nil if a
// merge is in progress.
func (s *Restorer) merging(st *capture.Stored) []string {
	if len(s.Info.MergeHeads()) > 0 {
		return nil
	}
	notHash := func(text string) bool { return !plumbing.IsHash(text) } // a record may contain any text
	return slices.DeleteFunc(st.Record.Snapshot().MergeHead, notHash)
}

// checkHead fails if HEAD lacks the commit that was HEAD at the save. A descendant of the
// commit contains it.
func (s *Restorer) checkHead(ctx context.Context, c *chain.Checkpoint, st *capture.Stored) error {
	if st.Head.IsZero() {
		return nil
	}
	now, err := s.ReadHead(ctx)
	if err != nil {
		return err
	}
	if now.Commit == st.Head {
		return nil
	}
	if !now.Commit.IsZero() {
		has, err := s.History().Contains(ctx, now.Commit.String(), st.Head.String())
		if err != nil || has {
			return err
		}
		// Unknown relations are no reason to fail. Each path is compared separately, and
		// files that changed since stay unchanged.
		if s.History().Unknown(ctx, st.Head.String(), now.Commit.String()) {
			return nil
		}
	}
	reason := fmt.Sprintf("HEAD does not contain %s, on which the checkpoint was made", st.Head.String()[:12])
	switch home := s.BranchLocation(ctx, c.Branch, st.Head); {
	case home.Worktree != "":
		return &repo.RefusedError{Reason: reason, Hint: "cd " + repo.ShellQuote(home.Worktree)}
	case home.Branch != "":
		return &repo.RefusedError{Reason: reason, Hint: "git switch " + repo.ShellQuote(home.Branch)}
	}
	branch := c.Branch
	if branch == "" || s.HasBranch(ctx, branch) {
		branch = "resume-" + c.Issue.RefName()
	}
	return &repo.RefusedError{
		Reason: reason,
		Hint:   fmt.Sprintf("git switch -c %s %s^2^", repo.ShellQuote(branch), c.Commit.String()[:12]),
	}
}

// ChangedSince returns the files of a checkpoint that were changed since the save. A file
// counts as changed if a commit has touched it, even if that commit was reverted. It also
// counts if its content is neither that of HEAD at the save nor that of the checkpoint.
// The second list contains files that cannot be restored because untracked files block
// them.
func (s *Restorer) ChangedSince(ctx context.Context, c *chain.Checkpoint) (changed, inTheWay []string, err error) {
	st, err := s.OpenSnapshot(c)
	if err != nil {
		return nil, nil, err
	}
	targets, err := s.Targets(st)
	if err != nil || len(targets) == 0 {
		return nil, nil, err
	}
	site := s.site(s.NewObjectWriter())
	site.Touched = s.TouchedSince(st.Head)
	return site.Differ(ctx, targets)
}
