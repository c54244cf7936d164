package gitstore

import "git-checkpoint/gitstore/internal/capture"

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

// CheckPlace fails if a checkpoint cannot contain a file at this path relative to the
// root, for example because git reserves the path.
func CheckPlace(place string) error { return capture.CheckPlace(place) }
