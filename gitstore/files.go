package gitstore

import (
	"git-checkpoint/gitstore/internal/snapshot"
	"git-checkpoint/gitstore/internal/treediff"
	"git-checkpoint/gitstore/internal/trees"
)

// A TreeDiff is the difference between the files of two checkpoints.
type TreeDiff = treediff.Diff

// A FileChange is a file that differs between two checkpoints.
type FileChange = treediff.Change

// CheckPlace fails if a checkpoint cannot contain a file at this path relative to the
// root, for example because git reserves the path.
func CheckPlace(place string) error { return trees.CheckPath(place, trees.ModeFile) }

// A Pair is two checkpoints to compare. A nil From is HEAD at the save of To.
type Pair = snapshot.Pair

// Totals has the numbers of changed files and lines.
type Totals = treediff.Totals
