//go:build !unix

package refs

// sameGroup has no groups to look at here.
func sameGroup(_, _ string) error { return nil }
