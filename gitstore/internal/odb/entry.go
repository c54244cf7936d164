package odb

import "github.com/go-git/go-git/v5/plumbing"

// entryHeader is the maximum header length: a size and a base reference.
const entryHeader = 10 + hashLen

// An entry is an object or delta in a pack.
type entry struct {
	kind plumbing.ObjectType // also OFSDelta and REFDelta
	size int64               // inflated size
	data []byte              // compressed data and all bytes behind it
	back int64               // OFSDelta: distance to the base
	base plumbing.Hash       // REFDelta: hash of the base
}

// parseEntry parses the entry header at the start of b.
func parseEntry(b []byte) (e entry, err error) {
	if e.kind, e.size, b, err = parseEntrySize(b); err != nil {
		return e, err
	}
	switch e.kind {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	case plumbing.OFSDeltaObject:
		if e.back, b, err = parseBack(b); err != nil {
			return e, err
		}
	case plumbing.REFDeltaObject:
		if len(b) < hashLen {
			return e, formatError("pack entry is truncated")
		}
		copy(e.base[:], b)
		b = b[hashLen:]
	default:
		return e, formatError("pack entry has the unknown type %d", e.kind)
	}
	e.data = b
	return e, nil
}

// parseEntrySize reads a continuation bit, a 3-bit type and 4 bits of the size, then 7
// bits of the size per byte, low bits first.
func parseEntrySize(b []byte) (plumbing.ObjectType, int64, []byte, error) {
	if len(b) == 0 {
		return 0, 0, nil, formatError("pack entry is truncated")
	}
	kind, size := plumbing.ObjectType(b[0]>>4&7), int64(b[0]&15)
	more := b[0]&0x80 != 0
	b = b[1:]
	for shift := 4; more; shift += 7 {
		if len(b) == 0 || shift > 53 {
			return 0, 0, nil, formatError("size of a pack entry is damaged")
		}
		size |= int64(b[0]&0x7f) << shift
		more = b[0]&0x80 != 0
		b = b[1:]
	}
	return kind, size, b, nil
}

// parseBack reads the distance to a base: 7 bits per byte, high bits first. Each
// continuation adds one.
func parseBack(b []byte) (int64, []byte, error) {
	back := int64(0)
	for i, c := range b {
		if i > 7 {
			break
		}
		back = back<<7 | int64(c&0x7f)
		if c&0x80 == 0 {
			return back, b[i+1:], nil
		}
		back++
	}
	return 0, nil, formatError("base offset of a pack entry is damaged")
}
