//go:build unix

package refs

// Here reports whether this package updates refs on this system.
const Here = true
