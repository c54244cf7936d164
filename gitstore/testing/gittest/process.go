package gittest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// UnseenGit returns the id of a git process whose directory this user may not see, or "". Linux
// does not show an ordinary user where the git of another user works, so the program keeps lock
// files that this git may hold.
func UnseenGit() string {
	names, _ := filepath.Glob("/proc/[0-9]*/comm")
	for _, file := range names {
		name, _ := os.ReadFile(file)
		_, err := os.Readlink(filepath.Join(filepath.Dir(file), "cwd"))
		if strings.HasPrefix(string(name), "git") && errors.Is(err, os.ErrPermission) {
			return filepath.Base(filepath.Dir(file))
		}
	}
	return ""
}
