package scan

import (
	"bufio"
	"encoding/binary"
	"io"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// A wideReader converts UTF-16 or UTF-32 to UTF-8. Invalid units become U+FFFD.
type wideReader struct {
	r    *bufio.Reader
	big  bool
	unit int    // bytes per unit: 2 or 4
	rest []byte // remaining bytes of a character
	half rune   // high surrogate, 0 if absent
	err  error
}

func (u *wideReader) Read(p []byte) (int, error) {
	n := copy(p, u.rest)
	u.rest = u.rest[n:]
	for len(p)-n >= utf8.UTFMax && u.err == nil {
		n += copy(p[n:], u.next())
	}
	if n == 0 && u.err == nil && len(p) > 0 { // buffer smaller than one character
		u.rest = u.next()
		return u.Read(p)
	}
	if n > 0 {
		return n, nil
	}
	return 0, u.err
}

// next returns the next character as UTF-8. It returns nil at the end and after a high
// surrogate.
func (u *wideReader) next() []byte {
	var b [4]byte
	if _, err := io.ReadFull(u.r, b[:u.unit]); err != nil {
		if err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		u.err = err
		return nil
	}
	if u.big {
		slices.Reverse(b[:u.unit])
	}
	c := rune(binary.LittleEndian.Uint32(b[:]))
	if u.unit == 4 {
		return utf8.AppendRune(nil, c)
	}
	switch first := u.half; {
	case first != 0:
		u.half = 0
		return utf8.AppendRune(nil, utf16.DecodeRune(first, c))
	case 0xd800 <= c && c < 0xdc00:
		u.half = c
		return nil
	}
	return utf8.AppendRune(nil, c)
}
