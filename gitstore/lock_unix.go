//go:build unix

package gitstore

import (
	"context"
	"math/rand/v2"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// waitLock takes the lock of f, which closing f gives back, or gives up after
// a while. It reports whether it has the lock.
func waitLock(ctx context.Context, f *os.File, limit time.Duration) bool {
	for deadline := time.Now().Add(limit); time.Now().Before(deadline) && ctx.Err() == nil; {
		if tryLock(f) {
			return true
		}
		time.Sleep(time.Millisecond + rand.N(2*time.Millisecond))
	}
	return false
}

// tryLock takes the lock of f, unless another process has it.
func tryLock(f *os.File) bool {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}
