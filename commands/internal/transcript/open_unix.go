//go:build unix

package transcript

import (
	"os"
	"syscall"
)

// noWait makes open return at once for a FIFO.
const noWait = syscall.O_NONBLOCK

// isOwn reports whether the file belongs to this user.
func isOwn(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
