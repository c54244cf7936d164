//go:build unix

package index

import "golang.org/x/sys/unix"

// mapThreshold is the file size from which mapping is faster than reading.
const mapThreshold = 128 << 10

func (x *Index) mapFile(size int64) error {
	data, err := unix.Mmap(int(x.file.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err == nil {
		x.mapping = data
	}
	return err
}

// relax releases the pages read so far. The process rarely reads them again, but mapped
// pages count as its memory.
func (x *Index) relax() {
	if x.mapping != nil {
		_ = unix.Madvise(x.mapping, unix.MADV_DONTNEED)
	}
}

func (x *Index) unmap() error {
	if x.mapping == nil {
		return nil
	}
	err := unix.Munmap(x.mapping)
	x.mapping = nil
	return err
}
