package filelock

import (
	"fmt"
	"os"
)

// Open opens the file of a lock for reading and writing, with the flags of
// os.OpenFile besides. It follows no symlink and fails for anything but a regular
// file: the caller overwrites the contents.
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
