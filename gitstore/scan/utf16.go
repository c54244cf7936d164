package scan

import (
	"bufio"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// A utf16Reader reads UTF-16 as UTF-8. What is not valid becomes U+FFFD.
type utf16Reader struct {
	r    *bufio.Reader
	big  bool
	rest []byte // of a character that did not fit
	half rune   // the first of two units, 0 for none
	err  error
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	n := copy(p, u.rest)
	u.rest = u.rest[n:]
	for len(p)-n >= utf8.UTFMax && u.err == nil {
		n += copy(p[n:], u.next())
	}
	if n == 0 && u.err == nil && len(p) > 0 { // no room for a whole character
		u.rest = u.next()
		return u.Read(p)
	}
	if n > 0 {
		return n, nil
	}
	return 0, u.err
}

// next is the next character, nothing at the end and for the first of two
// units.
func (u *utf16Reader) next() []byte {
	var b [2]byte
	if _, err := io.ReadFull(u.r, b[:]); err != nil {
		if err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		u.err = err
		return nil
	}
	if u.big {
		b[0], b[1] = b[1], b[0]
	}
	unit := rune(b[0]) | rune(b[1])<<8
	switch first := u.half; {
	case first != 0:
		u.half = 0
		return utf8.AppendRune(nil, utf16.DecodeRune(first, unit))
	case 0xd800 <= unit && unit < 0xdc00:
		u.half = unit
		return nil
	}
	return utf8.AppendRune(nil, unit)
}
