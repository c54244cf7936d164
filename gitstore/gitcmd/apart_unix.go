//go:build unix

package gitcmd

import (
	"os"
	"os/exec"
	"syscall"
)

// apart puts git into a process group of its own and lets it hold a file.
func apart(cmd *exec.Cmd, hold *os.File) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if hold != nil {
		cmd.ExtraFiles = []*os.File{hold}
	}
}
