//go:build unix

package objects

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncFile brings an existing file to the disk.
func syncFile(path string) error {
	f, err := openFile(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// syncDir brings the names in a directory to the disk. File systems that
// cannot sync a directory say so with EINVAL or ENOTSUP, and need not.
func syncDir(path string) error {
	err := syncFile(path)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}
