//go:build !unix

package terminal

// Has reports whether there is a console, which is taken for granted.
func Has() bool { return true }

// ReadsKeys is not known.
func ReadsKeys() bool { return false }
