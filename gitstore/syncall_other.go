//go:build !linux

package gitstore

const canSyncAll = false

// syncAll is never called where a whole file system can't be synced.
func syncAll(string) error { return nil }
