//go:build !linux

package repo

const canSyncAll = false

// syncAll is never called on a system that cannot sync a whole file system.
func syncAll(string) error { return nil }
