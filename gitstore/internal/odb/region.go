package odb

import (
	"fmt"
	"io"
	"os"
)

// A region is a file with random access. It is memory-mapped if the system supports that,
// else read with ReadAt.
type region struct {
	path string
	size int64
	data []byte   // mapping, or nil
	file *os.File // set if data is nil
}

// openRegion opens a file of the object database for reading.
func openRegion(path string) (*region, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, closing(f, err)
	}
	if !info.Mode().IsRegular() {
		return nil, closing(f, fmt.Errorf("open %s: not a regular file", path))
	}
	r := &region{path: path, size: info.Size()}
	if data, err := mapFile(f, r.size); err == nil {
		r.data = data
		return r, f.Close()
	}
	r.file = f
	return r, nil
}

func closing(c io.Closer, err error) error {
	_ = c.Close()
	return err
}

// at returns the bytes at off. For a mapped file it returns all following bytes, else at
// least want bytes or the rest of the file.
func (r *region) at(off, want int64) ([]byte, error) {
	if off < 0 || off > r.size {
		return nil, formatError("offset %d is outside of %d bytes", off, r.size)
	}
	if r.data != nil {
		return r.data[off:], nil
	}
	b := make([]byte, min(max(want, 0), r.size-off))
	if _, err := r.file.ReadAt(b, off); err != nil {
		return nil, fmt.Errorf("read %s: %w", r.path, err)
	}
	return b, nil
}

// all returns the whole file.
func (r *region) all() ([]byte, error) { return r.at(0, r.size) }

func (r *region) Close() error {
	if r.file != nil {
		return r.file.Close()
	}
	data := r.data
	r.data = nil
	return unmap(data)
}
