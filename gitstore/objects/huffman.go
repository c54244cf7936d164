package objects

import "math/bits"

const (
	codeMax   = 15 // bits in the longest code
	tableBits = 9  // codes up to this long are found in one step
)

// huffman decodes one set of canonical codes. Most symbols of a small object
// are read once or twice, so what counts is that the tables are made quickly.
type huffman struct {
	table  [1 << tableBits]uint16 // by the next bits: symbol<<4 | length, or 0
	count  [codeMax + 1]uint16    // codes by length
	symbol [288]uint16            // in the order of their codes
}

// build makes the tables from the length of each symbol's code. It reports
// whether the codes fill all values, except that a single code of one bit
// needs no other where alone is set, and none at all is a set too.
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

// fill makes the table for the short codes. It begins as a table for codes of
// one bit and is doubled for each further bit, so that every code is entered
// once.
func (h *huffman) fill() {
	h.table[0], h.table[1] = 0, 0
	code, i := uint16(0), 0
	for n := 1; ; n++ {
		for range h.count[n] {
			// The stream has the first bit of a code lowest.
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

// long finds a code that is not in the table. Its length is 0 when there is
// no such code.
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
