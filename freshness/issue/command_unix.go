//go:build unix

package issue

import (
	"os/exec"
	"syscall"
)

// killTree starts cmd in a process group and kills the whole group on cancellation.
func killTree(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
