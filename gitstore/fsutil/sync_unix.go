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

// SyncDir makes created, renamed and removed names in a directory durable. If the file
// system cannot sync directories (EINVAL or ENOTSUP), SyncDir returns nil.
func SyncDir(path string) error {
	err := SyncFile(path)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}
