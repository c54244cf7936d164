//go:build !linux

package gittest

// memory returns "": no directory of this system is known to be in memory.
func memory() string { return "" }
