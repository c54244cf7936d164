package facts

import (
	"context"

	"git-checkpoint/gitstore/internal/git/repository"

	"github.com/go-git/go-git/v5/plumbing"
)

// A BranchLocation is the branch and the worktree in which work on a checkpoint can
// continue.
type BranchLocation struct {
	Branch   string // set if the branch exists and contains the checkpoint's HEAD
	Worktree string // in which Branch is checked out, "" if in none
}

// CheckedOut returns the worktree in which a branch is checked out, or "".
func (s *Facts) CheckedOut(ctx context.Context, branch string) string {
	return repository.CheckedOut(ctx, s.Git, branch)
}

// BranchLocation returns the location of a checkpoint's branch. The result is empty if
// HEAD is already on the branch, or if the branch does not contain the commit head of the
// checkpoint.
func (s *Facts) BranchLocation(ctx context.Context, branch string, head plumbing.Hash) BranchLocation {
	if branch == "" || head.IsZero() {
		return BranchLocation{}
	}
	now, err := s.ReadHead(ctx)
	tip, tipErr := s.ReadRef(ctx, "refs/heads/"+branch)
	if err != nil || tipErr != nil || now.Branch == branch || tip.IsZero() {
		return BranchLocation{}
	}
	if has, err := s.History().Contains(ctx, tip.String(), head.String()); err != nil || !has {
		return BranchLocation{}
	}
	return BranchLocation{Branch: branch, Worktree: repository.CheckedOut(ctx, s.Git, branch)}
}
