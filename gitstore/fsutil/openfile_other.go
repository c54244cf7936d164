//go:build !unix

package fsutil

import (
	"io/fs"
	"os"
)

// OpenFile is os.OpenFile.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, perm)
}
