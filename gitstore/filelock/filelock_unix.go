//go:build unix

package filelock

import (
	"context"
	"math/rand/v2"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// noFollow makes an open fail for a symlink.
const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

// Wait takes the lock of f, which closing f gives back, or gives up after
// a while. It reports whether it has the lock.
func Wait(ctx context.Context, f *os.File, limit time.Duration) bool {
	for deadline := time.Now().Add(limit); time.Now().Before(deadline) && ctx.Err() == nil; {
		if Try(f) {
			return true
		}
		time.Sleep(time.Millisecond + rand.N(2*time.Millisecond))
	}
	return false
}

// Try takes the lock of f, unless another process has it.
func Try(f *os.File) bool {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}
