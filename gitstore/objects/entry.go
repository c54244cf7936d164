package objects

import (
	"github.com/go-git/go-git/v5/plumbing"
)

// entryHeader is the longest header: of a size and of a base reference.
const entryHeader = 10 + hashLen

// entry is an object as it lies in a pack.
type entry struct {
	kind plumbing.ObjectType // OFSDelta and REFDelta included
	size int64               // of what data inflates to
	data []byte              // compressed, with whatever follows it
	back int64               // OFSDelta: distance to the base
	base plumbing.Hash       // REFDelta: its name
}

// parseEntry reads the header at the beginning of b.
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

// parseEntrySize reads 1 bit more, 3 bits type, 4 bits size, then 7 bits of
// the size a byte, low ones first.
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

// parseBack reads the distance to a base: 7 bits a byte, high ones first,
// every continued byte counting one more.
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
