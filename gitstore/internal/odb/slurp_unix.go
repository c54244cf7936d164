//go:build unix

package odb

import (
	"io/fs"

	"git-checkpoint/gitstore/fsutil"

	"golang.org/x/sys/unix"
)

// slurp reads a file, into buf if it fits. It avoids os.File, whose overhead equals the
// read itself for ten thousand small files.
func slurp(path string, buf []byte) ([]byte, error) {
	fd, err := fsutil.IgnoringEINTR(func() (int, error) {
		return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	for n := 0; ; {
		if n > maxObject+maxObject>>8 {
			return nil, &fs.PathError{Op: "read", Path: path, Err: ErrTooLarge}
		}
		if n == len(buf) {
			bigger := make([]byte, 4*len(buf))
			copy(bigger, buf)
			buf = bigger
		}
		m, err := fsutil.IgnoringEINTR(func() (int, error) { return unix.Read(fd, buf[n:]) })
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		if m == 0 {
			return buf[:n], nil
		}
		n += m
	}
}
