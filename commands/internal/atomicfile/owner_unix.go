//go:build unix

package atomicfile

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// hardLinks returns a file's number of hard links.
func hardLinks(info fs.FileInfo) uint64 {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 1
	}
	return uint64(stat.Nlink)
}

// keepOwner copies owner and group of the replaced file to out.
func keepOwner(out *os.File, info fs.FileInfo) error {
	want, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	made, err := out.Stat()
	if err != nil {
		return err
	}
	if have, ok := made.Sys().(*syscall.Stat_t); ok && have.Uid == want.Uid && have.Gid == want.Gid {
		return nil
	}
	if err := out.Chown(int(want.Uid), int(want.Gid)); err != nil {
		return &ObstacleError{info.Name(), fmt.Sprintf("its owner %d cannot be kept", want.Uid)}
	}
	return nil
}
