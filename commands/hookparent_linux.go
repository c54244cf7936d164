package commands

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// process is a process's command line and its parent, nil where that cannot be
// read. In /proc/PID/stat the parent follows the name, which is in parentheses
// and may hold any, and the state.
func process(pid int) (argv []string, parent int) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	stat, statErr := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil || statErr != nil || pid <= 1 {
		return nil, 0
	}
	after := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(after) < 2 {
		return nil, 0
	}
	parent, _ = strconv.Atoi(after[1])
	return strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00"), parent
}
