//go:build unix

package objects

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// openFile is os.OpenFile for regular files. Package os tries whether each can
// be polled, which takes five more system calls: a save opens dozens.
func openFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	fd, err := ignoringEINTR(func() (int, error) {
		return unix.Open(path, flag|unix.O_CLOEXEC, uint32(perm))
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

func ignoringEINTR(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if err != unix.EINTR {
			return n, err
		}
	}
}
