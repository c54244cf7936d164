package output

import (
	"fmt"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendQuoted appends s as a JSON string; invalid UTF-8 bytes become U+FFFD.
func appendQuoted(buf []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = string([]rune(s)) // one U+FFFD per byte
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

// escapeUnprintable escapes characters that are unsafe for terminals. In JSON they occur
// only in strings, and the escapes preserve the value.
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

// firstUnprintable returns the index of the first unsafe character, or len(b).
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

// appendUTF16 appends r as one or two \u escapes.
func appendUTF16(buf []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		return fmt.Appendf(buf, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
	}
	return fmt.Appendf(buf, `\u%04x`, r)
}
