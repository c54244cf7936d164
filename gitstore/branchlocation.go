package gitstore

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
func (s *Store) CheckedOut(ctx context.Context, branch string) string {
	return repository.CheckedOut(ctx, s.git, branch)
}

// branchLocation returns the location of a checkpoint's branch. The result is empty if
// HEAD is already on the branch, or if the branch does not contain the commit head of the
// checkpoint.
func (s *Store) branchLocation(ctx context.Context, branch string, head plumbing.Hash) BranchLocation {
	if branch == "" || head.IsZero() {
		return BranchLocation{}
	}
	now, err := s.readHead(ctx)
	tip, tipErr := s.readRef(ctx, "refs/heads/"+branch)
	if err != nil || tipErr != nil || now.branch == branch || tip.IsZero() {
		return BranchLocation{}
	}
	if has, err := s.history().Contains(ctx, tip.String(), head.String()); err != nil || !has {
		return BranchLocation{}
	}
	return BranchLocation{Branch: branch, Worktree: repository.CheckedOut(ctx, s.git, branch)}
}
