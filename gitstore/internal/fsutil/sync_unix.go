//go:build unix

package fsutil

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// SyncFile makes the content of a file durable.
func SyncFile(path string) error {
	f, err := OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// SyncDir makes it durable that files were created, renamed or removed in a
// directory. File systems that cannot sync a directory return EINVAL or
// ENOTSUP, which is no failure.
func SyncDir(path string) error {
	err := SyncFile(path)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}
