package fsutil

import (
	"os"
	"path/filepath"
	"sync/atomic"

	"git-checkpoint/gitstore/trace"
)

// skipSync is set by SkipSync.
var skipSync atomic.Bool

// SkipSync makes Sync, SyncFile and SyncDir of this process do nothing. It is for fixtures
// of tests; the program never calls it, and no setting reaches it.
func SkipSync() { skipSync.Store(true) }

// Syncs reports whether changes are synced to the disk: true except after SkipSync.
func Syncs() bool { return !skipSync.Load() }

// Sync makes the content of an open file durable.
func Sync(f *os.File) error {
	if skipSync.Load() {
		return nil
	}
	defer trace.Begin(trace.Sync, filepath.Base(f.Name())).End()
	return f.Sync()
}
