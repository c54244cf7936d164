package odb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"git-checkpoint/gitstore/internal/git/objectformat"

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
		b, err := file.at(0, file.size)
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
	if file.size < packHeader+objectformat.Size {
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

func (r *region) Close() error {
	if r.file != nil {
		return r.file.Close()
	}
	data := r.data
	r.data = nil
	return unmap(data)
}

const (
	fanoutLen  = 256 * 4
	idxHeader  = 8                     // version 2: magic and version
	idxTrailer = 2 * objectformat.Size // checksums of pack and index
	farOffset  = 1 << 31               // flag of an offset in the 64-bit table
)

var idxMagic = []byte("\xfftOc\x00\x00\x00\x02")

// An idx is a parsed view of a pack index file. Version 2 contains
//
//	magic, version, 256 cumulative counts by first byte,
//	sorted names, CRCs, 32-bit offsets, 64-bit offsets, two checksums
//
// Version 1 contains the counts, then (offset, name) pairs.
type idx struct {
	count  int
	fanout []byte
	names  []byte // starts with the first name
	stride int    // bytes between names
	near   []byte // 32-bit offsets, with the same stride in version 1
	far    []byte // 64-bit offsets
}

// parseIdx checks the layout of an index, so that lookups stay within b.
func parseIdx(b []byte) (*idx, error) {
	if bytes.HasPrefix(b, idxMagic) {
		return parseIdx2(b[idxHeader:])
	}
	if bytes.HasPrefix(b, idxMagic[:4]) {
		return nil, formatError("unknown version of a pack index")
	}
	return parseIdx1(b)
}

func parseIdx2(b []byte) (*idx, error) {
	n, err := parseFanout(b)
	if err != nil {
		return nil, err
	}
	body, perName := len(b)-fanoutLen-idxTrailer, objectformat.Size+4+4
	if body < 0 || body/perName < n {
		return nil, formatError("pack index is too short for %d objects", n)
	}
	far := body - n*perName
	if far%8 != 0 || far/8 > n {
		return nil, formatError("pack index has %d stray bytes", far)
	}
	crcs := fanoutLen + n*objectformat.Size
	near := crcs + n*4
	return &idx{
		count: n, fanout: b[:fanoutLen], stride: objectformat.Size,
		names: b[fanoutLen:crcs],
		near:  b[near : near+n*4],
		far:   b[near+n*4 : near+n*4+far],
	}, nil
}

func parseIdx1(b []byte) (*idx, error) {
	n, err := parseFanout(b)
	if err != nil {
		return nil, err
	}
	body, perName := len(b)-fanoutLen-idxTrailer, 4+objectformat.Size
	if body < 0 || body/perName != n || body%perName != 0 {
		return nil, formatError("pack index has the wrong size for %d objects", n)
	}
	table := b[fanoutLen : fanoutLen+body]
	x := &idx{count: n, fanout: b[:fanoutLen], stride: perName, near: table}
	if n > 0 {
		x.names = table[4:]
	}
	return x, nil
}

// parseFanout returns the number of objects. It fails if the counts decrease.
func parseFanout(b []byte) (int, error) {
	if len(b) < fanoutLen {
		return 0, formatError("pack index is too short")
	}
	last := uint32(0)
	for i := 0; i < fanoutLen; i += 4 {
		n := binary.BigEndian.Uint32(b[i:])
		if n < last {
			return 0, formatError("pack index is not sorted")
		}
		last = n
	}
	if int64(last) > int64(len(b)) {
		return 0, formatError("pack index is too short for %d objects", last)
	}
	return int(last), nil
}

// find returns the offset of an object in the pack. Callers must check the offset,
// because the pack may not be open yet.
func (x *idx) find(h plumbing.Hash) (off int64, ok bool, err error) {
	lo, hi := 0, x.upTo(h[0])
	if h[0] > 0 {
		lo = x.upTo(h[0] - 1)
	}
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch bytes.Compare(h[:], x.name(mid)) {
		case 0:
			off, err = x.offset(mid)
			return off, err == nil, err
		case -1:
			hi = mid
		default:
			lo = mid + 1
		}
	}
	return 0, false, nil
}

// upTo returns the number of objects with first byte b or less. It limits the number to
// count again, because the mapped file may change.
func (x *idx) upTo(b byte) int {
	n := binary.BigEndian.Uint32(x.fanout[int(b)*4:])
	return int(min(int64(n), int64(x.count)))
}

func (x *idx) name(i int) []byte {
	at := i * x.stride
	return x.names[at : at+objectformat.Size]
}

func (x *idx) offset(i int) (int64, error) {
	step := 4
	if x.stride != objectformat.Size {
		step = x.stride
	}
	near := binary.BigEndian.Uint32(x.near[i*step:])
	if near < farOffset || step != 4 {
		return int64(near), nil
	}
	at := int64(near-farOffset) * 8
	if at+8 > int64(len(x.far)) {
		return 0, formatError("pack index names a 64-bit offset it does not have")
	}
	far := binary.BigEndian.Uint64(x.far[at:])
	if far > 1<<62 {
		return 0, formatError("pack index has an impossible offset")
	}
	return int64(far), nil
}
