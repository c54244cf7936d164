//go:build !linux

package gitconfig

// trusted is false where it is not known how git tells whose a repository is,
// and where it was installed.
func (Place) trusted() bool { return false }

func distributed(string) bool { return false }
