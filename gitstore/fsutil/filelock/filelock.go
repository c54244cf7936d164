// Package filelock provides file locks between processes. A lock lasts until all
// processes that have the file open, including child processes that inherit it, have
// closed it or exited. On systems without flock(2), the package locks no files.
package filelock

import (
	"fmt"
	"os"
)

// Open opens a lock file for reading and writing, with additional flags of os.OpenFile.
// It fails for symlinks and irregular files, because callers overwrite the content.
func Open(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|noFollow|flags, 0o666)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("open %s: not a regular file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
