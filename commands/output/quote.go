package output

import (
	"fmt"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendQuoted writes s as a JSON string; bytes that are not UTF-8 become
// U+FFFD.
func appendQuoted(buf []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = string([]rune(s)) // one U+FFFD a byte
	}
	buf = append(buf, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		buf = append(buf, s[start:i]...)
		buf = appendEscape(buf, c)
		start = i + 1
	}
	return append(append(buf, s[start:]...), '"')
}

func appendEscape(buf []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(buf, '\\', c)
	case '\n':
		return append(buf, `\n`...)
	case '\r':
		return append(buf, `\r`...)
	case '\t':
		return append(buf, `\t`...)
	}
	return append(buf, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// escapeUnprintable replaces characters that a terminal should not get. In
// JSON they can stand in strings only, where an escape means the same.
func escapeUnprintable(b []byte) []byte {
	at := firstUnprintable(b)
	if at == len(b) {
		return b
	}
	out := append(make([]byte, 0, len(b)+64), b[:at]...)
	for len(b) > at {
		r, size := utf8.DecodeRune(b[at:])
		if harmless(r) && (r != utf8.RuneError || size > 1) {
			out = append(out, b[at:at+size]...)
		} else {
			out = appendUTF16(out, r)
		}
		at += size
	}
	return out
}

// firstUnprintable is where the first character is that is not harmless.
func firstUnprintable(b []byte) int {
	for i := 0; i < len(b); {
		if c := b[i]; c >= ' ' && c < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		if !harmless(r) || r == utf8.RuneError {
			return i
		}
		i += size
	}
	return len(b)
}

// appendUTF16 writes r as one or two \u escapes.
func appendUTF16(buf []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		return fmt.Appendf(buf, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
	}
	return fmt.Appendf(buf, `\u%04x`, r)
}
