package gitstore

import (
	"context"

	"git-checkpoint/gitstore/internal/facts"
	"git-checkpoint/gitstore/internal/repo"
)

// Worktrees are the worktrees of the repository.
type Worktrees struct {
	repo  *repo.Repo
	facts *facts.Facts
}

// A Worktree is a worktree for the branch of a checkpoint.
type Worktree = facts.Worktree

// MainRoot returns the main worktree's root, or "" without a main worktree.
func (w Worktrees) MainRoot(ctx context.Context) (string, error) { return w.repo.MainRoot(ctx) }

// CheckedOut returns the worktree in which a branch is checked out, or "".
func (w Worktrees) CheckedOut(ctx context.Context, branch string) string {
	return w.facts.CheckedOut(ctx, branch)
}

// FindOrAdd returns the worktree at dir if it has a checkpoint's branch checked out, and fails
// with a *RefusedError if another worktree has. Otherwise it adds a worktree at dir. If the branch does not exist, FindOrAdd creates it from the
// remote-tracking branch with the same name, or at the checkpoint's HEAD.
func (w Worktrees) FindOrAdd(ctx context.Context, c *Checkpoint, dir string) (Worktree, error) {
	return w.facts.FindOrAddWorktree(ctx, c, dir)
}

// Remove removes a worktree and branch that FindOrAdd created. If the worktree has
// changed since, git refuses and both stay.
func (w Worktrees) Remove(ctx context.Context, added Worktree) error {
	return w.facts.RemoveWorktree(ctx, added)
}

// Switch switches this worktree to a branch, as git switch does. If the branch of the
// checkpoint does not exist, Switch creates it like FindOrAdd. It fails with a
// *RefusedError if git refuses, or if another worktree has the branch checked out.
func (w Worktrees) Switch(ctx context.Context, c *Checkpoint, branch string) error {
	return w.facts.SwitchBranch(ctx, c, branch)
}

// EnterWorktree makes a worktree the working directory of this process, and unsets the
// environment variables that would make git use another worktree.
func EnterWorktree(dir string) error { return facts.EnterWorktree(dir) }
