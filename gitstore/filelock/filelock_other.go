//go:build !unix

package filelock

import (
	"context"
	"os"
	"time"
)

const noFollow = 0

// Wait does nothing where there is no flock: compare-and-swap and jitter
// are enough, only slower.
func Wait(context.Context, *os.File, time.Duration) bool { return false }

// Try takes every lock.
func Try(*os.File) bool { return true }
