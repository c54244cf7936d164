//go:build !linux && !darwin

package restore

import (
	"io/fs"

	"git-checkpoint/gitstore/internal/index"
)

// statOf always returns false. Without a ctime, a file rewritten in place would count as
// unmodified.
func statOf(fs.FileInfo) (index.Stat, bool) { return index.Stat{}, false }
