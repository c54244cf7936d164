package gittest

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// HasEnded reports whether a process ended. Zombies count as ended, because a container may
// have no process that reaps them.
func HasEnded(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil || p.Signal(syscall.Signal(0)) != nil {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && bytes.Contains(stat, []byte(") Z "))
}
