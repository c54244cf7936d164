//go:build !unix

package objects

import (
	"io/fs"
	"os"
)

func openFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, perm)
}
