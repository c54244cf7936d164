package gitstore

import (
	"context"

	"git-checkpoint/gitstore/internal/snapshot"
)

// A TreeDiff is the difference between the files of two checkpoints. The caller must
// close it.
type TreeDiff = snapshot.TreeDiff

// A FileChange is a file that differs between two checkpoints.
type FileChange = snapshot.FileChange

// Diff compares the files of two checkpoints. If from is nil, it compares a checkpoint
// with HEAD at the time of its save. Paths are git pathspecs that limit the result;
// without paths all files count.
func (s *Store) Diff(from, to *Checkpoint, paths ...string) (*TreeDiff, error) {
	return s.Files.Compare(from, to, paths...)
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
	return s.Files.TotalsOf(ctx, pairs)
}
