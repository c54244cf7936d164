//go:build unix

package issue

import (
	"os/exec"
	"syscall"
)

// startTree starts cmd in a process group, and kills the whole group on cancellation.
func startTree(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd.Start()
}
