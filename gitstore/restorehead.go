package gitstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// checkPlace refuses where the checkpoint's files do not belong: git is in the
// middle of something, or HEAD does not contain the commit they were made on.
func (s *Store) checkPlace(ctx context.Context, req *RestoreRequest, st *stored) error {
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

// checkBranch refuses if HEAD is on another branch than the checkpoint's, also if
// both are at the same commit.
func (s *Store) checkBranch(ctx context.Context, req *RestoreRequest) error {
	c := req.Checkpoint
	head, err := s.readHead(ctx)
	now := RecordedBranch(first(head.branch, req.Branch))
	if err != nil || c.Branch == "" || now == "" || now == c.Branch {
		return err
	}
	b, err := s.FindBranch(ctx, c.Branch, c.Created)
	if err != nil || !b.Exists && b.Name == now {
		return err
	}
	refused := &RefusedError{Reason: fmt.Sprintf("the checkpoint is of branch %s, and HEAD is on %s; --yes restores it here", c.Branch, now)}
	switch place := s.CheckedOut(ctx, c.Branch); {
	case place != "":
		refused.Hint = "cd " + shellQuote(place)
	case b.Exists:
		refused.Hint = "git switch " + shellQuote(c.Branch)
	default:
		refused.Hint = fmt.Sprintf("git switch -c %s %s^2^", shellQuote(c.Branch), c.Commit.String()[:12])
	}
	return refused
}

// checkIdle refuses in the middle of a merge, rebase and the like. A
// checkpoint that was saved in the merge that is still under way, on the same
// HEAD, belongs there: that is how work goes on after a crash. Its conflict
// stages go back with it.
//
// Where it was saved in a merge and none is under way, its files and conflict
// stages are put back all the same, but the merge itself is not begun:
// Restored.Merging names its commits, and git writes MERGE_HEAD, which makes
// the next commit a merge, when it is told to (git update-ref MERGE_HEAD).
func (s *Store) checkIdle(ctx context.Context, st *stored) error {
	what := s.repo.UnderWay()
	if what == "" {
		return nil
	}
	if what == "merge" && slices.Equal(s.repo.MergeHeads(), st.Record.Snapshot().MergeHead) {
		if now, err := s.readHead(ctx); err == nil && now.commit == st.head {
			return nil
		}
	}
	return &RefusedError{Reason: fmt.Sprintf("a %s is under way", what), Hint: fmt.Sprintf("git %s --continue", what)}
}

// merging are the commits of the merge that a checkpoint was saved in, nil
// where one is under way.
func (s *Store) merging(st *stored) []string {
	if len(s.repo.MergeHeads()) > 0 {
		return nil
	}
	notHash := func(text string) bool { return !plumbing.IsHash(text) } // a record may say anything
	return slices.DeleteFunc(st.Record.Snapshot().MergeHead, notHash)
}

// checkHead refuses where HEAD does not contain the commit on which the
// checkpoint was made. One that has moved on contains it.
func (s *Store) checkHead(ctx context.Context, c *Checkpoint, st *stored) error {
	if st.head.IsZero() {
		return nil
	}
	now, err := s.readHead(ctx)
	if err != nil {
		return err
	}
	if now.commit == st.head {
		return nil
	}
	if !now.commit.IsZero() {
		has, err := s.history().Contains(ctx, now.commit.String(), st.head.String())
		if err != nil || has {
			return err
		}
		// That it is not known is no reason to refuse: each path is compared by
		// itself, and what has changed since stays.
		if s.history().Unknown(ctx, st.head.String(), now.commit.String()) {
			return nil
		}
	}
	reason := fmt.Sprintf("HEAD does not contain %s, on which the checkpoint was made", st.head.String()[:12])
	switch home := s.branchLocation(ctx, c.Branch, st.head); {
	case home.Worktree != "":
		return &RefusedError{Reason: reason, Hint: "cd " + shellQuote(home.Worktree)}
	case home.Branch != "":
		return &RefusedError{Reason: reason, Hint: "git switch " + shellQuote(home.Branch)}
	}
	branch := c.Branch
	if branch == "" || s.hasBranch(ctx, branch) {
		branch = "resume-" + c.Issue.RefName()
	}
	return &RefusedError{
		Reason: reason,
		Hint:   fmt.Sprintf("git switch -c %s %s^2^", shellQuote(branch), c.Commit.String()[:12]),
	}
}

// ChangedSince lists the files of a checkpoint that were changed since the save.
// A file counts as changed if a commit has touched it, even if that commit was
// reverted. It also counts if its content is neither that of HEAD at the save nor
// the checkpoint's. The second list has the files that cannot be restored because
// a file that git does not know is in the way.
func (s *Store) ChangedSince(ctx context.Context, c *Checkpoint) (changed, inTheWay []string, err error) {
	st, err := s.openSnapshot(c)
	if err != nil {
		return nil, nil, err
	}
	targets, err := s.targets(st)
	if err != nil || len(targets) == 0 {
		return nil, nil, err
	}
	site := s.site(s.newObjectWriter())
	site.Touched = s.touchedSince(st.head)
	return site.Differ(ctx, targets)
}
