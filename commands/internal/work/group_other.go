//go:build !unix

package work

import "os/exec"

// endGroup leaves the end of the command to the context: it kills only the command itself.
func endGroup(*exec.Cmd) {}

// killGroup does nothing: the context has killed the command.
func killGroup(*exec.Cmd) {}
