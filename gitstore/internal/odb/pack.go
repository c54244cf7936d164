package odb

import (
	"bytes"
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"
)

const packHeader = 12 // "PACK", version, number of objects

// A pack is a pack file with its index. Each file is opened at first use. If opening
// fails, the next use tries again.
type pack struct {
	path string // path without extension

	mu    sync.Mutex // held while files are opened
	names atomic.Pointer[packIndex]
	file  atomic.Pointer[region]
}

type packIndex struct {
	*idx
	file *region
}

// index returns the parsed index and opens it at first use.
func (p *pack) index() (*packIndex, error) {
	if x := p.names.Load(); x != nil {
		return x, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if x := p.names.Load(); x != nil {
		return x, nil
	}
	x, err := openIndex(p.path + ".idx")
	if err != nil {
		return nil, withPath(p.path+".idx", err)
	}
	p.names.Store(x)
	return x, nil
}

func openIndex(path string) (*packIndex, error) {
	file, err := openRegion(path)
	if err != nil {
		return nil, err
	}
	x := &packIndex{file: file}
	err = guard(func() error {
		b, err := file.all()
		if err == nil {
			x.idx, err = parseIdx(b)
		}
		return err
	})
	if err != nil {
		return nil, closing(file, err)
	}
	return x, nil
}

// data returns the pack file and opens it at first use.
func (p *pack) data() (*region, error) {
	if file := p.file.Load(); file != nil {
		return file, nil
	}
	x, err := p.index()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if file := p.file.Load(); file != nil {
		return file, nil
	}
	file, err := openPack(p.path+".pack", x.count)
	if err != nil {
		return nil, withPath(p.path+".pack", err)
	}
	p.file.Store(file)
	return file, nil
}

func openPack(path string, count int) (*region, error) {
	file, err := openRegion(path)
	if err != nil {
		return nil, err
	}
	if err := guard(func() error { return checkPack(file, count) }); err != nil {
		return nil, closing(file, err)
	}
	return file, nil
}

// checkPack validates the pack header and compares its object count with the index.
func checkPack(file *region, count int) error {
	if file.size < packHeader+hashLen {
		return formatError("pack is too short")
	}
	b, err := file.at(0, packHeader)
	if err != nil {
		return err
	}
	version := binary.BigEndian.Uint32(b[4:])
	if !bytes.HasPrefix(b, []byte("PACK")) || version != 2 && version != 3 {
		return formatError("not a pack of version 2 or 3")
	}
	if n := binary.BigEndian.Uint32(b[8:]); int64(n) != int64(count) {
		return formatError("pack has %d objects, its index %d", n, count)
	}
	return nil
}

// find returns the offset of an object.
func (p *pack) find(h plumbing.Hash) (off int64, ok bool, err error) {
	x, err := p.index()
	if err != nil {
		return 0, false, err
	}
	err = guard(func() (err error) {
		off, ok, err = x.find(h)
		return err
	})
	return off, ok, withPath(p.path+".idx", err)
}

// close unmaps both files. The caller must ensure that no read is in progress.
func (p *pack) close() {
	if x := p.names.Swap(nil); x != nil {
		_ = x.file.Close()
	}
	if file := p.file.Swap(nil); file != nil {
		_ = file.Close()
	}
}
