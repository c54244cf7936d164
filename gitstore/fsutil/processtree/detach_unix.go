//go:build unix

package processtree

import (
	"os/exec"
	"syscall"
)

// Detach lets a process survive the end of its parent's terminal and process group.
func Detach(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return nil
}
