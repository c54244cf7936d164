package gitstore

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const canSyncAll = true

// syncAll brings to the disk whatever was written to the file system of a
// directory.
func syncAll(dir string) error {
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
