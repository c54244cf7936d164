package odb

import "github.com/go-git/go-git/v5/plumbing"

// maxDepth is the maximum length of a delta chain. Git's limit is 4,095.
const maxDepth = 4096

// A packReader reads objects from an open pack.
type packReader struct {
	key  *pack // identifies the pack in the cache
	idx  *idx
	file *region
}

func (p *pack) reader() (packReader, error) {
	file, err := p.data()
	if err != nil {
		return packReader{}, err
	}
	x, err := p.index()
	if err != nil {
		return packReader{}, err
	}
	return packReader{p, x.idx, file}, nil
}

// entryAt returns the entry at off, without the trailer of the pack.
func (p packReader) entryAt(off int64) (entry, error) {
	end := p.file.size - hashLen
	if off < packHeader || off >= end {
		return entry{}, formatError("offset %d is outside of the pack", off)
	}
	b, err := p.file.at(off, entryHeader)
	if err != nil {
		return entry{}, err
	}
	e, err := parseEntry(clip(b, end-off))
	if err != nil || p.file.data != nil {
		return e, err
	}
	if e.size > maxObject {
		return e, ErrTooLarge
	}
	// If the file is not mapped, read the compressed bytes now that the size is known.
	// zlib output exceeds its input by less than this margin.
	head := int64(len(b) - len(e.data))
	want := head + e.size + e.size>>10 + 64
	if b, err = p.file.at(off, min(want, end-off)); err != nil {
		return entry{}, err
	}
	return parseEntry(b)
}

func clip(b []byte, n int64) []byte {
	if int64(len(b)) > n {
		return b[:n]
	}
	return b
}

// baseOf returns the offset of the base of a delta at off.
func (p packReader) baseOf(e entry, off int64) (int64, error) {
	if e.kind == plumbing.OFSDeltaObject {
		if e.back <= 0 || e.back > off-packHeader {
			return 0, formatError("delta at %d has its base outside of the pack", off)
		}
		return off - e.back, nil
	}
	base, ok, err := p.idx.find(e.base)
	if err == nil && !ok {
		err = formatError("delta at %d: base %s is not in the pack", off, e.base)
	}
	return base, err
}

func isDelta(t plumbing.ObjectType) bool {
	return t == plumbing.OFSDeltaObject || t == plumbing.REFDeltaObject
}

// header returns type and size of the object at off.
func (p packReader) header(off int64) (plumbing.ObjectType, int64, error) {
	e, err := p.entryAt(off)
	if err != nil {
		return 0, 0, err
	}
	size := e.size
	if isDelta(e.kind) {
		if size, err = e.resultSize(); err != nil {
			return 0, 0, err
		}
	}
	for depth := 0; isDelta(e.kind); depth++ {
		if depth > maxDepth {
			return 0, 0, formatError("chain of deltas at %d is too long", off)
		}
		if off, err = p.baseOf(e, off); err != nil {
			return 0, 0, err
		}
		if e, err = p.entryAt(off); err != nil {
			return 0, 0, err
		}
	}
	return e.kind, size, nil
}

// resultSize returns the object size from the header of a delta.
func (e entry) resultSize() (int64, error) {
	var room [20]byte
	head, _, _, err := inflateStart(room[:0], e.data)
	if err != nil {
		return 0, err
	}
	_, size, _, err := deltaSizes(head)
	return size, err
}

// inflate returns the inflated object or delta.
func (e entry) inflate() ([]byte, error) {
	if e.size > mostOf(e.kind) {
		return nil, ErrTooLarge
	}
	return e.inflateTo(make([]byte, 0, min(e.size, firstPiece)))
}

// inflateTo inflates the entry into dst if its capacity suffices.
func (e entry) inflateTo(dst []byte) ([]byte, error) {
	content, _, err := inflateExact(dst, e.data, e.size)
	return content, err
}
