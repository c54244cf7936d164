package gitstore

import (
	"context"

	"git-checkpoint/gitstore/internal/snapshot"
)

// Plan returns what a resume of a checkpoint would restore here and what it would leave, without
// regard to HEAD, and changes nothing. Skipped are the files that both sides changed. A file
// counts as changed if a commit has touched it, even if that commit was reverted.
// look may be nil.
func (s *Store) Plan(ctx context.Context, c *Checkpoint, look *Look) (*RestoreOutcome, error) {
	return s.restorer.Plan(ctx, c, look)
}

// ChangedBetween returns the paths whose files differ between two checkpoints, sorted. Parts that
// cannot be read count as equal.
func (s *Store) ChangedBetween(older, newer *Checkpoint) []string {
	return s.restorer.ChangedBetween(older, newer)
}

// CheckResume fails with a *RefusedError if a resume of a checkpoint would restore no file here,
// because of an operation of git or of HEAD.
func (s *Store) CheckResume(ctx context.Context, c *Checkpoint) error {
	return s.restorer.CheckResume(ctx, c)
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
