//go:build !unix

package terminal

// Has returns true: this platform is assumed to have a console.
func Has() bool { return true }

// ReadsKeys returns false, because this platform has no check.
func ReadsKeys() bool { return false }
