//go:build !unix

package fsutil

// SyncFile does nothing for a file that exists: only who may write to a file
// can sync it here, and objects are read-only. Git for Windows syncs them.
func SyncFile(string) error { return nil }

// SyncDir does nothing: there is no way to sync a directory here, and NTFS
// keeps names in its journal.
func SyncDir(string) error { return nil }
