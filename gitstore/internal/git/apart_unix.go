//go:build unix

package git

import (
	"os"
	"os/exec"
	"syscall"
)

// apart starts git in a separate process group and passes it the files in hold.
func apart(cmd *exec.Cmd, hold []*os.File) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.ExtraFiles = hold
}

// askAll terminates git and all its child processes, such as a transport that hangs. Git
// forwards signals only to some children.
func askAll(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGTERM); err != nil {
		return ask(p)
	}
	return nil
}
