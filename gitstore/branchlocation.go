package gitstore

import (
	"context"

	"git-checkpoint/gitstore/repository"

	"github.com/go-git/go-git/v5/plumbing"
)

// A BranchLocation is where work on a checkpoint's branch can go on.
type BranchLocation struct {
	Branch   string // the branch, where it is there and has the checkpoint's HEAD in it
	Worktree string // where it is checked out, "" for nowhere but perhaps here
}

// CheckedOut returns the worktree in which a branch is checked out, "" for none.
func (s *Store) CheckedOut(ctx context.Context, branch string) string {
	return repository.CheckedOut(ctx, s.git, branch)
}

// branchLocation finds the branch of a checkpoint, unless HEAD is on it or what it has
// is not what the checkpoint was made on.
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
