//go:build !unix

package filelock

import (
	"context"
	"os"
	"time"
)

const noFollow = 0

// Wait returns false, because this system has no flock. Callers then rely on
// compare-and-swap and jitter, which is slower.
func Wait(context.Context, *os.File, time.Duration) bool { return false }

// Try returns true, because this system has no flock.
func Try(*os.File) bool { return true }
