//go:build unix

package filelock

import (
	"errors"
	"os"

	"git-checkpoint/gitstore/fsutil"

	"golang.org/x/sys/unix"
)

// noFollow makes open fail for a symlink and not block for a pipe.
const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

// lock locks f. Another error than ErrHeld means that the file system has no locks.
func lock(f *os.File) error {
	_, err := fsutil.IgnoringEINTR(func() (int, error) {
		return 0, unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	})
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrHeld
	}
	return err
}
