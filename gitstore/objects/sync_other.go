//go:build !unix

package objects

// syncFile does nothing for a file that exists: only who may write to a file
// can sync it here, and objects are read-only. Git for Windows syncs them.
func syncFile(string) error { return nil }

// syncDir does nothing: there is no way to sync a directory here, and NTFS
// keeps names in its journal.
func syncDir(string) error { return nil }
