//go:build unix

package filelock

import (
	"context"
	"math/rand/v2"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// noFollow makes open fail for a symlink and not block for a pipe.
const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

// Wait locks f and retries until the limit or the end of ctx. It reports whether it has
// locked f. Closing f releases the lock.
func Wait(ctx context.Context, f *os.File, limit time.Duration) bool {
	for deadline := time.Now().Add(limit); time.Now().Before(deadline) && ctx.Err() == nil; {
		if Try(f) {
			return true
		}
		time.Sleep(time.Millisecond + rand.N(2*time.Millisecond))
	}
	return false
}

// Try locks f and reports success. It fails if another process has the lock.
func Try(f *os.File) bool {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}
