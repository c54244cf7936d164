package refs

import (
	"fmt"
	"os"

	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/trace"

	"golang.org/x/sys/unix"
)

const canSyncAll = true

// syncAll writes all pending data of a directory's file system to the disk.
func syncAll(dir string) error {
	if !fsutil.Syncs() {
		return nil
	}
	defer trace.Begin(trace.Sync, "file system").End()
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync the disk: %w", err)
	}
	defer d.Close()
	if err := unix.Syncfs(int(d.Fd())); err != nil {
		return fmt.Errorf("sync the disk: %w", err)
	}
	return nil
}
