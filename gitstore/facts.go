package gitstore

import (
	"context"
	"slices"

	"git-checkpoint/gitstore/internal/facts"
)

// RecordedBranch returns the name of a branch as stored in records. A name that is not
// valid UTF-8 is quoted.
func RecordedBranch(name string) string { return facts.RecordedBranch(name) }

// A BranchReport contains known facts about a branch.
type BranchReport = facts.BranchReport

// A FormerName is an earlier name of a branch.
type FormerName = facts.FormerName

// A Worktree is a worktree for the branch of a checkpoint.
type Worktree = facts.Worktree

// A Switch is a switch of this worktree to another branch.
type Switch = facts.Switch

// EnterWorktree makes a worktree the working directory of this process, and unsets the
// environment variables that would make git use another worktree.
func EnterWorktree(dir string) error { return facts.EnterWorktree(dir) }

// Author returns the name of git's author of new commits.
func (s *Store) Author() string { return s.repo.Author() }

// Shallow reports whether the clone is shallow.
func (s *Store) Shallow() bool { return s.repo.Info.Shallow }

// MainRoot returns the main worktree's root, or "" without a main worktree.
func (s *Store) MainRoot(ctx context.Context) (string, error) {
	return s.repo.Info.MainRoot(ctx, s.repo.Git)
}

// RemoteMayHave reports whether a remote of the checkpoints has a branch, as far as this clone
// knows, so that it can have checkpoints of the branch too. The remote's default branch counts
// only if an issue is named apart from the branch.
func (s *Store) RemoteMayHave(ctx context.Context, branch string, named bool) bool {
	remotes, _ := s.Remotes(ctx)
	return slices.ContainsFunc(remotes, func(name string) bool { return s.Facts.RemoteMayHave(ctx, name, branch, named) })
}
