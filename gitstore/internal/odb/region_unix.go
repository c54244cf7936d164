//go:build unix

package odb

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

var errCannotMap = errors.New("file cannot be mapped")

func mapFile(f *os.File, size int64) ([]byte, error) {
	if size <= 0 || size != int64(int(size)) {
		return nil, errCannotMap
	}
	return unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
}

func unmap(data []byte) error {
	if data == nil {
		return nil
	}
	return unix.Munmap(data)
}
