//go:build unix

package index

import "golang.org/x/sys/unix"

// mapThreshold is the size from which mapping a file is faster than reading it.
const mapThreshold = 128 << 10

func (x *Index) mapFile(size int64) error {
	data, err := unix.Mmap(int(x.file.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err == nil {
		x.mapping = data
	}
	return err
}

func (x *Index) unmap() error {
	if x.mapping == nil {
		return nil
	}
	err := unix.Munmap(x.mapping)
	x.mapping = nil
	return err
}
