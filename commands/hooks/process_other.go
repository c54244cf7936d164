//go:build !linux && !windows

package hooks

import (
	"os/exec"
	"strconv"
	"strings"
)

// process returns the command line and the parent of a process from ps. It returns nil if
// ps fails.
func process(pid int) (argv []string, parent int) {
	if pid <= 1 {
		return nil, 0
	}
	out, err := exec.Command("ps", "-o", "ppid=", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	words := strings.Fields(string(out))
	if err != nil || len(words) < 2 {
		return nil, 0
	}
	parent, _ = strconv.Atoi(words[0])
	return words[1:], parent
}
