//go:build !unix

package gitcmd

import (
	"os"
	"os/exec"
)

// apart does nothing where there are neither process groups nor locks that a
// child holds.
func apart(*exec.Cmd, []*os.File) {}

// askAll ends git.
func askAll(p *os.Process) error { return ask(p) }
