//go:build !unix

package fsutil

// SyncFile does nothing: on this system a sync requires write access, but object files
// are read-only. Git for Windows syncs them.
func SyncFile(string) error { return nil }

// SyncDir does nothing: this system cannot sync a directory, and NTFS journals file
// names.
func SyncDir(string) error { return nil }
