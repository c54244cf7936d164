package odb

import (
	"git-checkpoint/gitstore/internal/git/objectformat"

	"github.com/go-git/go-git/v5/plumbing"
)

// entryHeader is the maximum header length: a size and a base reference.
const entryHeader = 10 + objectformat.Size

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
		if len(b) < objectformat.Size {
			return e, formatError("pack entry is truncated")
		}
		copy(e.base[:], b)
		b = b[objectformat.Size:]
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

// A delta describes an object as changes to another object, its base:
//
//	size of the base, size of the result (7 bits a byte, low bits first),
//	then 1xxxxxxx offset/size bytes: copy from the base,
//	or   0nnnnnnn and n bytes: insert these bytes.
//
// Size 0 in a copy instruction means 64 KiB. Instruction 0 is reserved.
const copyDefault = 0x10000

// deltaSizes returns the base size, the result size and the instructions of a delta.
func deltaSizes(d []byte) (base, result int64, code []byte, err error) {
	if base, d, err = deltaSize(d); err != nil {
		return 0, 0, nil, err
	}
	if result, d, err = deltaSize(d); err != nil {
		return 0, 0, nil, err
	}
	return base, result, d, nil
}

func deltaSize(d []byte) (size int64, rest []byte, err error) {
	for i, c := range d {
		if i > 8 {
			break
		}
		size |= int64(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			return size, d[i+1:], nil
		}
	}
	return 0, nil, formatError("size in a delta is damaged")
}

// applyDelta applies delta to base and returns the result, at most limit bytes. It checks
// all instructions before it allocates memory for the result.
func applyDelta(base, delta []byte, limit int64) ([]byte, error) {
	from, to, code, err := deltaSizes(delta)
	if err != nil {
		return nil, err
	}
	if from != int64(len(base)) {
		return nil, formatError("delta is for a base of %d bytes, not %d", from, len(base))
	}
	if to > limit {
		return nil, ErrTooLarge
	}
	if err := checkDelta(code, from, to); err != nil {
		return nil, err
	}
	out := make([]byte, 0, to)
	for len(code) > 0 {
		op, rest, _ := nextOp(code)
		if op.insert != nil {
			out = append(out, op.insert...)
		} else {
			out = append(out, base[op.off:op.off+op.size]...)
		}
		code = rest
	}
	return out, nil
}

func checkDelta(code []byte, from, to int64) error {
	total := int64(0)
	for len(code) > 0 {
		op, rest, ok := nextOp(code)
		if !ok {
			return formatError("instruction in a delta is damaged")
		}
		if op.insert == nil && op.off+op.size > from {
			return formatError("delta copies from behind its base")
		}
		total += op.size
		if total > to {
			return formatError("delta makes more than its %d bytes", to)
		}
		code = rest
	}
	if total != to {
		return formatError("delta makes %d bytes, not %d", total, to)
	}
	return nil
}

// An op is one delta instruction: an insertion, or a copy if insert is nil.
type op struct {
	insert    []byte
	off, size int64
}

func nextOp(code []byte) (o op, rest []byte, ok bool) {
	c := code[0]
	code = code[1:]
	if c == 0 || c < 0x80 && int(c) > len(code) {
		return o, nil, false
	}
	if c < 0x80 {
		return op{insert: code[:c], size: int64(c)}, code[c:], true
	}
	for bit := range 7 {
		if c&(1<<bit) == 0 {
			continue
		}
		if len(code) == 0 {
			return o, nil, false
		}
		if bit < 4 {
			o.off |= int64(code[0]) << (8 * bit)
		} else {
			o.size |= int64(code[0]) << (8 * (bit - 4))
		}
		code = code[1:]
	}
	if o.size == 0 {
		o.size = copyDefault
	}
	return o, code, true
}
