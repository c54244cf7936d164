// Package inflate decompresses zlib streams (RFC 1950) from memory to memory.
//
// The standard library's reader accepts any io.Reader, but its tables suit long streams:
// building them takes most of the time for objects of a few hundred bytes. Reading a
// history means ten thousand such objects. Zlib accepts the same streams as
// compress/zlib, except those with a preset dictionary, which git never writes.
package inflate

import (
	"encoding/binary"
	"hash/adler32"
)

// An Error reports a damaged stream.
type Error string

func (e Error) Error() string { return string(e) }

// ErrMore reports content that exceeds the limit.
const ErrMore = Error("there is more compressed data than expected")

const (
	errNoData    = Error("no compressed data")
	errDamaged   = Error("compressed data is damaged")
	errTruncated = Error("compressed data is truncated")
	errChecksum  = Error("checksum of compressed data is wrong")
)

// Zlib decompresses the stream src into the empty slice dst, which may grow, and returns
// the stream length in used. If the content exceeds limit bytes, Zlib fails with
// ErrMore and returns the first limit bytes.
func Zlib(dst, src []byte, limit int) (out []byte, used int, err error) {
	if len(src) < 2 {
		return dst, 0, errTruncated
	}
	// Method 8, window up to 32 KiB, no dictionary, valid header checksum.
	if head := binary.BigEndian.Uint16(src); head>>12 > 7 || head&0x0f20 != 0x0800 || head%31 != 0 {
		return dst, 0, errNoData
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
		return out, used, errChecksum
	}
	return out, used + 4, nil
}
