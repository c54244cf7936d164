//go:build unix

package fsutil

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// OpenIn opens a file of a directory, which is open both as root and as dir. It fails for a symlink,
// and does not register the file for polling.
func OpenIn(_ *os.Root, dir *os.File, name string) (*os.File, error) {
	fd, err := IgnoringEINTR(func() (int, error) {
		return unix.Openat(int(dir.Fd()), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// IgnoringEINTR retries a system call if a signal interrupts it.
func IgnoringEINTR(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if err != unix.EINTR {
			return n, err
		}
	}
}

// SyncFile makes the content of a file durable.
func SyncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return Sync(f)
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

// CheckWritable fails if this user may not write to a file or folder. It writes nothing.
func CheckWritable(path string) error {
	if err := unix.Access(path, unix.W_OK); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}

// IsRunning reports whether process pid exists.
func IsRunning(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}
