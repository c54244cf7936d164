//go:build !unix

package fsutil

import (
	"os"
)

// OpenIn opens a file of a directory, which is open both as root and as dir.
func OpenIn(root *os.Root, _ *os.File, name string) (*os.File, error) { return root.Open(name) }

// SyncFile does nothing: on this system a sync requires write access, but object files
// are read-only. Git for Windows syncs them.
func SyncFile(string) error { return nil }

// SyncDir does nothing: this system cannot sync a directory, and NTFS journals file
// names.
func SyncDir(string) error { return nil }

// CheckWritable does nothing: on this system only a write shows whether it is permitted.
func CheckWritable(string) error { return nil }

// IsRunning always returns true, because this platform has no check: only a file's age
// counts.
func IsRunning(int) bool { return true }
