//go:build unix

package gitcmd

import (
	"os"
	"os/exec"
	"syscall"
)

// apart puts git into a process group of its own and lets it hold files.
func apart(cmd *exec.Cmd, hold []*os.File) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.ExtraFiles = hold
}

// askAll ends git and all that it started, as a transport that hangs: git
// passes a signal on to some of it only.
func askAll(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGTERM); err != nil {
		return ask(p)
	}
	return nil
}
