//go:build !unix

package git

import (
	"os"
	"os/exec"
)

// apart does nothing: this system has neither process groups nor inherited locks.
func apart(*exec.Cmd, []*os.File) {}

// askAll terminates git.
func askAll(p *os.Process) error { return ask(p) }
