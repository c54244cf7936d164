//go:build !unix

package refs

// Here reports whether this package updates refs on this system. Not every system can
// replace a file that is open for reading; git handles that case.
const Here = false

// sameGroup returns nil: this system has no file groups.
func sameGroup(_, _ string) error { return nil }
