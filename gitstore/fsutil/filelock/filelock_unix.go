//go:build unix

package filelock

import (
	"os"

	"golang.org/x/sys/unix"
)

// noFollow makes open fail for a symlink and not block for a pipe.
const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

// Try locks f and reports success. It fails if another process has the lock.
func Try(f *os.File) bool {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}
