//go:build unix

package gitstore

import (
	"os"
	"syscall"
)

// isMine reports whether a file belongs to the user of this process.
func isMine(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
