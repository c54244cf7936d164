//go:build !linux

package gitconfig

// trusted returns false, because git's ownership rules and installation paths on this
// system are unknown.
func (Place) trusted() bool { return false }

func distributed(string) bool { return false }
