package hooks

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// process returns the command line and the parent of a process. It returns nil if /proc
// cannot be read. In /proc/PID/stat the parent follows the state and the name. The name
// is in parentheses and may itself contain parentheses.
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
