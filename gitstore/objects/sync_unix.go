//go:build unix

package objects

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncFlags open a file well enough to sync it; objects are read-only.
const syncFlags = os.O_RDONLY

// syncDir brings the names in a directory to the disk. File systems that
// cannot sync a directory say so with EINVAL or ENOTSUP, and need not.
func syncDir(path string) error {
	err := syncPath(path)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}
