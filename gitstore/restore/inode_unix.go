//go:build unix

package restore

import (
	"io/fs"
	"syscall"
)

// inode is a file's number, cut to what the staging area keeps of it.
func inode(info fs.FileInfo) uint32 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint32(st.Ino)
	}
	return 0
}
