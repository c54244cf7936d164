package odb

import (
	"encoding/binary"
	"errors"
	"hash/adler32"
	"sync"
)

// firstPiece limits the memory that is allocated for an object before any byte is
// inflated, because the header may claim a false size.
const firstPiece = 1 << 20

// scratch is a pool of buffers for temporary data.
var scratch = sync.Pool{New: func() any { b := make([]byte, 16<<10); return &b }}

// inflate appends the content of the zlib stream src to the empty slice dst and returns
// the stream length in used. If the content exceeds limit bytes, inflate fails with
// errMore and returns the first limit bytes.
func inflate(dst, src []byte, limit int) (out []byte, used int, err error) {
	if len(src) < 2 {
		return dst, 0, errTruncated
	}
	// Method 8, window up to 32 KiB, no dictionary, valid header checksum.
	if head := binary.BigEndian.Uint16(src); head>>12 > 7 || head&0x0f20 != 0x0800 || head%31 != 0 {
		return dst, 0, formatError("no compressed data")
	}
	d := decoders.Get().(*decoder)
	d.src, d.pos, d.bits, d.n, d.out, d.limit = src, 2, 0, 0, dst, limit
	err = d.blocks()
	d.align()
	out, used = d.out, d.pos
	d.src, d.out = nil, nil
	decoders.Put(d)
	if err != nil {
		return out, used, err
	}
	if len(src)-used < 4 {
		return out, used, errTruncated
	}
	if binary.BigEndian.Uint32(src[used:]) != adler32.Checksum(out) {
		return out, used, formatError("checksum of compressed data is wrong")
	}
	return out, used + 4, nil
}

// inflateExact returns the content of a stream and fails if its length is not size. It
// uses the capacity of dst first and allocates more as bytes arrive.
func inflateExact(dst, src []byte, size int64) (content []byte, used int, err error) {
	if size < 0 || size > maxObject {
		return nil, 0, ErrTooLarge
	}
	content, used, err = inflate(dst, src, int(size))
	if err != nil {
		return nil, 0, err
	}
	if int64(len(content)) != size {
		return nil, 0, formatError("object has %d bytes, not %d", len(content), size)
	}
	return content, used, nil
}

// inflateStart returns the first bytes of a stream, at most cap(dst). whole reports
// whether the stream ended.
func inflateStart(dst, src []byte) (out []byte, used int, whole bool, err error) {
	out, used, err = inflate(dst[:0], src, cap(dst))
	if errors.Is(err, errMore) {
		return out, used, false, nil
	}
	return out, used, err == nil, err
}
