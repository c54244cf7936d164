//go:build unix

package work

import (
	"os/exec"
	"syscall"
)

// detach lets a process survive the end of its parent's terminal and process group.
func detach(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return nil
}
