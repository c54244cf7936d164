package inflate

import "math/bits"

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
