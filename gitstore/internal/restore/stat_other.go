//go:build !linux && !darwin

package restore

import (
	"io/fs"

	"git-checkpoint/gitstore/internal/index"
)

// statOf reports false: without the time of the last change of status, a file
// that was rewritten in place would pass for the old one.
func statOf(fs.FileInfo) (index.Stat, bool) { return index.Stat{}, false }
