package gitstore

import (
	"context"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/snapshot"
)

// Files compares the files of the worktree with checkpoints, their records and HEAD.
type Files struct {
	repo     *repo.Repo
	snapshot *snapshot.Capturer
}

// Diff returns the difference between a checkpoint's file and the file in the worktree,
// in the format of git diff. The text contains raw file contents: callers must escape it
// for a terminal.
func (f Files) Diff(ctx context.Context, c *Checkpoint, path string) (string, error) {
	return f.snapshot.DiffSince(ctx, c, path)
}

// Changes counts the changed files of the worktree.
type Changes = snapshot.Changes

// CountChanges counts the files that differ from HEAD, without submodules.
func (f Files) CountChanges(ctx context.Context) (Changes, error) {
	return f.snapshot.CountChanges(ctx)
}

// A LocalCommit is a commit of a submodule that other clones cannot check out.
type LocalCommit = snapshot.LocalCommit

// LocalCommits returns the commits of submodules that a checkpoint names and that no remote
// of the submodule has. It looks only at submodules that differ from the checkpoint's HEAD
// and that are checked out here.
func (f Files) LocalCommits(ctx context.Context, c *Checkpoint) ([]LocalCommit, error) {
	return f.snapshot.LocalCommits(ctx, c)
}

// LFSContent returns the ids of the content that git-lfs stores for changed files of
// checkpoints. It leaves out checkpoints that cannot be read.
func (f Files) LFSContent(list []Checkpoint) map[string]bool {
	ids := map[string]bool{}
	for i := range list {
		pointers, _ := f.snapshot.Pointers(&list[i])
		for _, p := range pointers {
			ids[p.OID] = true
		}
	}
	return ids
}

// SweepContent removes kept content of git-lfs that no checkpoint names: the content in
// purged, or if purged is nil, content that is not needed since 90 days.
func (f Files) SweepContent(ctx context.Context, purged map[string]bool) error {
	return f.snapshot.SweepContent(ctx, purged)
}

// Uncommitted returns the files that differ from HEAD, including untracked files, and
// those of them that a checkpoint does not contain.
func (f Files) Uncommitted(ctx context.Context, r *checkpoint.Record) (changed, notSaved []string, err error) {
	return f.snapshot.Uncommitted(ctx, r)
}

// An OutputReport lists the files that a record refers to and that are missing or
// changed.
type OutputReport = snapshot.OutputReport

// Outputs checks the files that a record refers to. Locations outside the worktree are
// not read and count as missing. A file that a restore of the checkpoint would create or
// update counts as neither missing nor changed. This is normal in a clone that has not
// restored the checkpoint.
func (f Files) Outputs(ctx context.Context, c *Checkpoint, r *checkpoint.Record) (OutputReport, error) {
	return f.snapshot.Outputs(ctx, c, r)
}

// MissingOutputs returns the files that a record refers to and that are neither in the
// worktree nor among the checkpoint's artifacts.
func (f Files) MissingOutputs(c *Checkpoint, r *checkpoint.Record) ([]string, error) {
	return f.snapshot.MissingOutputs(c, r)
}

// PlanChanged reports whether the plan file differs from its digest, and a restore of the
// checkpoint would not correct this.
func (f Files) PlanChanged(ctx context.Context, c *Checkpoint, path, digest string) (bool, error) {
	return f.snapshot.PlanChanged(ctx, c, path, digest)
}

// Digests returns the current digests of worktree files (Checker.Digests).
func (f Files) Digests(ctx context.Context, paths []string) (map[string]string, error) {
	return f.snapshot.Digests(ctx, paths)
}

// A Foreign is a directory or file that belongs to a repository and not to the worktree,
// with the reason. The zero value means that a path belongs to the worktree.
type Foreign = repository.Foreign

// FindRepository returns the repository inside the worktree that contains a path relative
// to the root, or the part of this repository that does.
func (f Files) FindRepository(ctx context.Context, path string) Foreign {
	return f.repo.Boundary(ctx).Find(path)
}

// FindGitDir returns the git directory or object directory that contains an absolute path,
// of this or of another repository.
func (f Files) FindGitDir(ctx context.Context, path string) Foreign {
	return f.repo.Boundary(ctx).FindPlace(path)
}

// IsTracked reports whether git tracks a worktree file, or any file below a directory.
func (f Files) IsTracked(ctx context.Context, path string) (bool, error) {
	return f.snapshot.IsTracked(ctx, path)
}

// A TreeDiff is the difference between the files of two checkpoints. The caller must
// close it.
type TreeDiff = snapshot.TreeDiff

// A FileChange is a file that differs between two checkpoints.
type FileChange = snapshot.FileChange

// Diff compares the files of two checkpoints. If from is nil, it compares a checkpoint
// with HEAD at the time of its save. Paths are git pathspecs that limit the result;
// without paths all files count.
func (s *Store) Diff(from, to *Checkpoint, paths ...string) (*TreeDiff, error) {
	return s.snapshot.Diff(from, to, paths...)
}

// CheckPlace fails if a checkpoint cannot contain a file at this path relative to the
// root, for example because git reserves the path.
func CheckPlace(place string) error { return snapshot.CheckPlace(place) }

// A Pair is two checkpoints to compare. A nil From is HEAD at the save of To.
type Pair = snapshot.Pair

// Totals has the numbers of changed files and lines.
type Totals = snapshot.Totals

// Totals counts the changed files and lines of many pairs of checkpoints at once. The
// totals of a pair that cannot be read are nil.
func (s *Store) Totals(ctx context.Context, pairs []Pair) []*Totals {
	return s.snapshot.TotalsOf(ctx, pairs)
}
