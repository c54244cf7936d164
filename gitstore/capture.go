package gitstore

import (
	"context"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/capture"
)

// A TreeDiff is the difference between the files of two checkpoints. The caller must
// close it.
type TreeDiff = capture.TreeDiff

// A FileChange is a file that differs between two checkpoints.
type FileChange = capture.FileChange

// Diff compares the files of two checkpoints. If from is nil, it compares a checkpoint
// with HEAD at the time of its save. Paths are git pathspecs that limit the result;
// without paths all files count.
func (s *Store) Diff(from, to *Checkpoint, paths ...string) (*TreeDiff, error) {
	return s.capturer.Diff(from, to, paths...)
}

// DiffSince returns the difference between a checkpoint's file and the file in the
// worktree, in the format of git diff. The text contains raw file contents: callers must
// escape it for a terminal.
func (s *Store) DiffSince(ctx context.Context, c *Checkpoint, path string) (string, error) {
	return s.capturer.DiffSince(ctx, c, path)
}

// An OutputReport lists the files that a record refers to and that are missing or
// changed.
type OutputReport = capture.OutputReport

// Outputs checks the files that a record refers to. Locations outside the worktree are
// not read and count as missing. A file that a restore of the checkpoint would create or
// update counts as neither missing nor changed. This is normal in a clone that has not
// restored the checkpoint.
func (s *Store) Outputs(ctx context.Context, c *Checkpoint, r *checkpoint.Record) (OutputReport, error) {
	return s.capturer.Outputs(ctx, c, r)
}

// PlanChanged reports whether the plan file differs from its digest, and a restore of the
// checkpoint would not correct this.
func (s *Store) PlanChanged(ctx context.Context, c *Checkpoint, place, digest string) (bool, error) {
	return s.capturer.PlanChanged(ctx, c, place, digest)
}

// MissingOutputs returns the files that a record refers to and that are neither in the
// worktree nor among the checkpoint's artifacts.
func (s *Store) MissingOutputs(c *Checkpoint, r *checkpoint.Record) ([]string, error) {
	return s.capturer.MissingOutputs(c, r)
}

// CheckPlace fails if a checkpoint cannot contain a file at this path relative to the
// root, for example because git reserves the path.
func CheckPlace(place string) error { return capture.CheckPlace(place) }

// IsTracked reports whether git tracks a worktree file, or any file below a directory.
func (s *Store) IsTracked(ctx context.Context, place string) (bool, error) {
	return s.capturer.IsTracked(ctx, place)
}

// Digests returns the current digests of worktree files (Checker.Digests).
func (s *Store) Digests(ctx context.Context, places []string) (map[string]string, error) {
	return s.capturer.Digests(ctx, places)
}

// Uncovered returns the files that differ from HEAD, including untracked files, and those
// of them that a checkpoint does not contain.
func (s *Store) Uncovered(ctx context.Context, r *checkpoint.Record) (changed, uncovered []string, err error) {
	return s.capturer.Uncovered(ctx, r)
}
