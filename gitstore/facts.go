package gitstore

import (
	"context"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/facts"
	"git-checkpoint/gitstore/internal/repo"
)

// RecordedBranch returns the name of a branch as stored in records. A name that is not
// valid UTF-8 is quoted.
func RecordedBranch(name string) string { return facts.RecordedBranch(name) }

// Deleted returns the ids of an issue's dropped checkpoints, sorted.
func (s *Store) Deleted(ctx context.Context, issue checkpoint.Issue) ([]checkpoint.ID, error) {
	return s.facts.Deleted(ctx, issue)
}

// Ended returns the reason and the time of the last archival of an issue, or zero if the
// chain has checkpoints or none was archived.
func (s *Store) Ended(ctx context.Context, issue checkpoint.Issue) (Filed, error) {
	return s.facts.Ended(ctx, issue)
}

// A BranchReport contains known facts about a branch.
type BranchReport = facts.BranchReport

// FindBranch looks for a branch. Traces of a former branch are its configuration and the
// reflog of HEAD, which names the branches of every checkout.
func (s *Store) FindBranch(ctx context.Context, name string, since time.Time) (BranchReport, error) {
	return s.facts.FindBranch(ctx, name, since)
}

// SavedHere reports whether this clone is known to have saved a checkpoint. The reflog of
// the chain has an entry for the save. If git has expired the entry, the checkpoint must
// be in own/, but neither in fetched/ nor in the chain of a remote.
func (s *Store) SavedHere(ctx context.Context, c *Checkpoint) bool { return s.facts.SavedHere(ctx, c) }

// Author returns the name of git's author of new commits.
func (s *Store) Author() string { return s.repo.Author() }

// Partial reports whether the clone is shallow or partial, and so may lack objects that
// other clones have.
func (s *Store) Partial() bool { return s.facts.Partial() }

// Shallow reports whether the clone is shallow.
func (s *Store) Shallow() bool { return s.repo.Info.Shallow }

// A HeadReport compares current HEAD with HEAD at a checkpoint's save.
type HeadReport = facts.HeadReport

// CompareHead compares HEAD with HEAD at the save of a checkpoint. With incomplete
// history it returns an error if it cannot determine whether HEAD descends.
func (s *Store) CompareHead(ctx context.Context, c *Checkpoint) (HeadReport, error) {
	return s.facts.CompareHead(ctx, c)
}

// A BaseReport describes the branch that the work will be merged into: a remote's default
// branch.
type BaseReport = facts.BaseReport

// RemoteMayHave reports whether the remote of the checkpoints has a branch, as far as this clone
// knows, so that it can have checkpoints of the branch too. The remote's default branch counts
// only if an issue is named apart from the branch.
func (s *Store) RemoteMayHave(ctx context.Context, branch string, named bool) bool {
	remote, err := s.Remote(ctx)
	return err == nil && s.facts.RemoteMayHave(ctx, remote, branch, named)
}

// Base compares HEAD with the remote-tracking ref of a remote's default branch. The
// current branch selects the remote, with origin as default.
func (s *Store) Base(ctx context.Context) (BaseReport, error) { return s.facts.Base(ctx) }

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
// with a *RefusedError if another worktree has. Otherwise it adds a worktree at dir. If the branch
// does not exist, FindOrAdd creates it from the remote-tracking branch with the same name, or at
// the checkpoint's HEAD.
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
func (w Worktrees) Switch(ctx context.Context, c *Checkpoint, branch string) (Switch, error) {
	return w.facts.SwitchBranch(ctx, c, branch)
}

// A Switch is a switch of this worktree to another branch.
type Switch = facts.Switch

// SwitchBack switches this worktree back to the HEAD before a switch, and deletes the branch that
// the switch created. If HEAD was moved in the meantime, SwitchBack does nothing. It returns the former branch or
// commit, or "".
func (w Worktrees) SwitchBack(ctx context.Context, done Switch) (string, error) {
	return w.facts.SwitchBack(ctx, done)
}

// EnterWorktree makes a worktree the working directory of this process, and unsets the
// environment variables that would make git use another worktree.
func EnterWorktree(dir string) error { return facts.EnterWorktree(dir) }
