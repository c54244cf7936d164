//go:build unix

package gitstore

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// waitLock takes the lock of f, which closing f gives back, or gives up after
// a while.
func waitLock(ctx context.Context, f *os.File, limit time.Duration) {
	for deadline := time.Now().Add(limit); time.Now().Before(deadline) && ctx.Err() == nil; {
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// tryLock takes the lock of f, unless another process has it.
func tryLock(f *os.File) bool {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}
