// Package inflate decompresses zlib streams (RFC 1950) from memory to memory.
//
// The standard library's reader accepts any io.Reader, but its tables suit long streams:
// building them takes most of the time for objects of a few hundred bytes. Reading a
// history means ten thousand such objects. Zlib accepts the same streams as
// compress/zlib, except those with a preset dictionary, which git never writes.
//
// The row list-packed of testdata/bench pays for this package: with compress/flate a list of 10,000
// checkpoints takes 20% more processor time, with klauspost/compress 10%.
package inflate

import (
	"encoding/binary"
	"hash/adler32"
	"math/bits"
	"sync"
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

// A decoder decodes a deflate stream (RFC 1951) from memory to memory.
type decoder struct {
	src  []byte
	pos  int    // offset in src of the first byte not yet in bits
	bits uint64 // next bits, lowest bit first
	n    int    // number of valid bits in bits

	out   []byte
	limit int

	lit, dist huffman
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// Base values and extra bits of the length and distance codes of matches.
var (
	lengthBase  = [29]uint16{3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258}
	lengthExtra = [29]uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
	distBase    = [30]uint16{1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577}
	distExtra   = [30]uint8{0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13}
	codeOrder   = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
)

const (
	endOfBlock = 256
	maxLit     = 286
	maxDist    = 30
)

// fixed returns the code tables for blocks with fixed codes.
var fixed = sync.OnceValue(func() *decoder {
	var d decoder
	var lengths [288]uint8
	for i := range lengths {
		switch {
		case i < 144:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		case i < 280:
			lengths[i] = 7
		default:
			lengths[i] = 8
		}
	}
	d.lit.build(lengths[:], false)
	var dists [32]uint8
	for i := range dists {
		dists[i] = 5
	}
	d.dist.build(dists[:], false)
	return &d
})

// refill loads at least 48 bits, or all remaining bits if src has fewer.
func (d *decoder) refill() {
	if len(d.src)-d.pos >= 8 {
		d.bits |= binary.LittleEndian.Uint64(d.src[d.pos:]) << d.n
		d.pos += (63 - d.n) >> 3
		d.n |= 56
		return
	}
	for d.n <= 56 && d.pos < len(d.src) {
		d.bits |= uint64(d.src[d.pos]) << d.n
		d.pos++
		d.n += 8
	}
}

// take removes and returns n bits. The caller must call refill first.
func (d *decoder) take(n int) (uint64, error) {
	if n > d.n {
		return 0, errTruncated
	}
	v := d.bits & (1<<n - 1)
	d.bits >>= n
	d.n -= n
	return v, nil
}

// blocks decodes all blocks of the stream.
func (d *decoder) blocks() error {
	for {
		d.refill()
		head, err := d.take(3)
		if err != nil {
			return err
		}
		switch head >> 1 {
		case 0:
			err = d.stored()
		case 1:
			f := fixed()
			err = d.codes(&f.lit, &f.dist)
		case 2:
			if err = d.tables(); err == nil {
				err = d.codes(&d.lit, &d.dist)
			}
		default:
			err = errDamaged
		}
		if err != nil || head&1 == 1 {
			return err
		}
	}
}

// align returns whole unread bytes from bits to src and drops the rest of the current
// byte.
func (d *decoder) align() {
	d.pos -= d.n >> 3
	d.bits, d.n = 0, 0
}

// stored copies a stored (uncompressed) block.
func (d *decoder) stored() error {
	d.align()
	if len(d.src)-d.pos < 4 {
		return errTruncated
	}
	size := int(binary.LittleEndian.Uint16(d.src[d.pos:]))
	if size^0xffff != int(binary.LittleEndian.Uint16(d.src[d.pos+2:])) {
		return errDamaged
	}
	d.pos += 4
	b := d.src[d.pos:]
	if len(b) > size {
		b = b[:size]
	}
	if room := d.limit - len(d.out); len(b) > room {
		d.out = append(d.out, b[:room]...)
		return ErrMore
	}
	d.out = append(d.out, b...)
	d.pos += len(b)
	if len(b) < size {
		return errTruncated
	}
	return nil
}

// tables reads the code tables of a block with dynamic codes.
func (d *decoder) tables() error {
	d.refill()
	head, err := d.take(14)
	if err != nil {
		return err
	}
	lits, dists, codes := int(head&31)+257, int(head>>5&31)+1, int(head>>10)+4
	if lits > maxLit || dists > maxDist {
		return errDamaged
	}
	var lengths [maxLit + maxDist]uint8
	for _, i := range codeOrder[:codes] {
		d.refill()
		n, err := d.take(3)
		if err != nil {
			return err
		}
		lengths[i] = uint8(n)
	}
	if !d.lit.build(lengths[:len(codeOrder)], false) {
		return errDamaged
	}
	lengths = [maxLit + maxDist]uint8{}
	if err := d.lengths(lengths[:lits+dists]); err != nil {
		return err
	}
	if lengths[endOfBlock] == 0 || !d.lit.build(lengths[:lits], true) || !d.dist.build(lengths[lits:lits+dists], true) {
		return errDamaged
	}
	return nil
}

// lengths reads code lengths, which are themselves Huffman-coded.
func (d *decoder) lengths(p []uint8) error {
	for i := 0; i < len(p); {
		d.refill()
		symbol, err := d.symbol(&d.lit)
		if err != nil {
			return err
		}
		if symbol < 16 {
			p[i] = uint8(symbol)
			i++
			continue
		}
		value, base, extra := uint8(0), 3, 3
		switch symbol {
		case 16:
			if i == 0 {
				return errDamaged
			}
			value, extra = p[i-1], 2
		case 18:
			base, extra = 11, 7
		}
		more, err := d.take(extra)
		if err != nil {
			return err
		}
		n := base + int(more)
		if n > len(p)-i {
			return errDamaged
		}
		for range n {
			p[i] = value
			i++
		}
	}
	return nil
}

// symbol decodes one symbol. The caller must call refill first.
func (d *decoder) symbol(h *huffman) (int, error) {
	entry := h.table[d.bits&(1<<tableBits-1)]
	symbol, n := entry>>4, int(entry&15)
	if n == 0 {
		if symbol, n = h.long(d.bits); n == 0 {
			return 0, d.noCode()
		}
	}
	if n > d.n {
		return 0, errTruncated
	}
	d.bits >>= n
	d.n -= n
	return int(symbol), nil
}

func (d *decoder) noCode() error {
	if d.n < codeMax {
		return errTruncated
	}
	return errDamaged
}

// codes decodes the symbols of a compressed block.
func (d *decoder) codes(lit, dist *huffman) error {
	for {
		d.literals(lit)
		d.refill()
		symbol, err := d.symbol(lit)
		switch {
		case err != nil:
			return err
		case symbol < endOfBlock:
			if len(d.out) >= d.limit {
				return ErrMore
			}
			d.out = append(d.out, byte(symbol))
		case symbol == endOfBlock:
			return nil
		default:
			if err := d.match(symbol-endOfBlock-1, dist); err != nil {
				return err
			}
		}
	}
}

// literals is the fast path for literals with short codes. It stops if src or out has too
// little room for several symbols.
func (d *decoder) literals(h *huffman) {
	const several = 6 // codes of at most tableBits each fit in 56 bits, the result of a refill
	pos, next, n := d.pos, d.bits, d.n
	at, room := len(d.out), d.out[:min(cap(d.out), d.limit)]
decode:
	for len(d.src)-pos >= 8 && len(room)-at >= several {
		next |= binary.LittleEndian.Uint64(d.src[pos:]) << n
		pos += (63 - n) >> 3
		n |= 56
		for range several {
			entry := h.table[next&(1<<tableBits-1)]
			size := int(entry & 15)
			if size == 0 || entry>>4 >= endOfBlock {
				break decode
			}
			room[at] = byte(entry >> 4)
			at++
			next >>= size
			n -= size
		}
	}
	d.pos, d.bits, d.n, d.out = pos, next, n, room[:at]
}

// match copies a match, a repetition of earlier output.
func (d *decoder) match(code int, h *huffman) error {
	if code >= len(lengthBase) {
		return errDamaged
	}
	extra, err := d.take(int(lengthExtra[code]))
	if err != nil {
		return err
	}
	length := int(lengthBase[code]) + int(extra)
	if code, err = d.symbol(h); err != nil {
		return err
	}
	if code >= len(distBase) {
		return errDamaged
	}
	if extra, err = d.take(int(distExtra[code])); err != nil {
		return err
	}
	dist := int(distBase[code]) + int(extra)
	if dist > len(d.out) {
		return errDamaged
	}
	room := d.limit - len(d.out)
	d.repeat(min(length, room), dist)
	if length > room {
		return ErrMore
	}
	return nil
}

// repeat appends length bytes that begin dist bytes before the end of out. Source and
// destination may overlap.
func (d *decoder) repeat(length, dist int) {
	for length > 0 {
		n := min(length, dist)
		from := len(d.out) - dist
		d.out = append(d.out, d.out[from:from+n]...)
		length -= n
	}
}

const (
	codeMax   = 15 // bits in the longest code
	tableBits = 9  // maximum bits of a code in table
)

// A huffman decodes a set of canonical codes. Most symbols of a small object occur once
// or twice, so fast table construction matters most.
type huffman struct {
	table  [1 << tableBits]uint16 // indexed by the next bits: symbol<<4 | length, or 0
	count  [codeMax + 1]uint16    // number of codes by length
	symbol [288]uint16            // symbols in code order
}

// build builds the tables from the code length of each symbol. It reports whether the
// code is complete, that is, uses every bit sequence. If alone is true, an empty code and
// a single code of one bit are valid too.
func (h *huffman) build(lengths []uint8, alone bool) bool {
	h.count = [codeMax + 1]uint16{}
	for _, n := range lengths {
		h.count[n]++
	}
	h.count[0] = 0
	left, longest := 1, 0
	var next [codeMax + 2]uint16
	for n := 1; n <= codeMax; n++ {
		left = left<<1 - int(h.count[n])
		if left < 0 {
			return false
		}
		if h.count[n] > 0 {
			longest = n
		}
		next[n+1] = next[n] + h.count[n]
	}
	if left > 0 && (!alone || longest > 1) {
		return false
	}
	for s, n := range lengths {
		if n > 0 {
			h.symbol[next[n]] = uint16(s)
			next[n]++
		}
	}
	h.fill()
	return true
}

// fill builds the table for short codes. It starts as a table for codes of one bit and
// doubles for each further bit, so that fill enters each code once.
func (h *huffman) fill() {
	h.table[0], h.table[1] = 0, 0
	code, i := uint16(0), 0
	for n := 1; ; n++ {
		for range h.count[n] {
			// In the stream, the first bit of a code is the lowest bit.
			h.table[bits.Reverse16(code)>>(16-n)] = h.symbol[i]<<4 | uint16(n)
			code++
			i++
		}
		if n == tableBits {
			return
		}
		code <<= 1
		copy(h.table[1<<n:2<<n], h.table[:1<<n])
	}
}

// long finds a code that is longer than tableBits. It returns length 0 if no code
// matches.
func (h *huffman) long(next uint64) (symbol uint16, length int) {
	code, first, index := 0, 0, 0
	for n := 1; n <= codeMax; n++ {
		code |= int(next & 1)
		next >>= 1
		count := int(h.count[n])
		if code-count < first {
			return h.symbol[index+code-first], n
		}
		index += count
		first = (first + count) << 1
		code <<= 1
	}
	return 0, 0
}
