// Package fsutil opens, replaces and syncs files. It is not internal to the store, because
// packages commands and freshness replace files too.
package fsutil

import (
	"errors"
	"io/fs"
	"os"
)

// Exists reports whether a path exists. It does not follow symlinks.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// IgnoreMissing returns err, or nil if err means that a file does not exist.
func IgnoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
