//go:build unix

package demo

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// apart starts a command in a session of its own, without the terminal.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// killAll kills a command with its child, which has a process group of its own, without a warning.
// Without pgrep, the child ends by itself.
func killAll(cmd *exec.Cmd) {
	children, _ := exec.Command("pgrep", "-P", strconv.Itoa(cmd.Process.Pid)).Output()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	for child := range strings.FieldsSeq(string(children)) {
		if pid, err := strconv.Atoi(child); err == nil {
			_ = syscall.Kill(-pid, syscall.SIGKILL)
		}
	}
}
