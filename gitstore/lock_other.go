//go:build !unix

package gitstore

import (
	"context"
	"os"
	"time"
)

// waitLock does nothing where there is no flock: compare-and-swap and jitter
// are enough, only slower.
func waitLock(context.Context, *os.File, time.Duration) bool { return false }

// tryLock takes every lock.
func tryLock(*os.File) bool { return true }
