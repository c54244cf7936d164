package document

import (
	"strconv"
	"unicode/utf8"
)

// unquote returns the double-quoted text at the start of s and its length in bytes, 0 if
// s is not an output of appendQuoted.
func unquote(s string) (string, int) {
	for k := 1; k < len(s); k++ {
		switch s[k] {
		case '"':
			return s[1:k], k + 1
		case '\\':
			return unescape(s, k)
		case '\n':
			return "", 0
		}
	}
	return "", 0
}

// unescape parses the rest of a quoted text from its first backslash at k.
func unescape(s string, k int) (string, int) {
	b := append(make([]byte, 0, len(s[:k])+32), s[1:k]...)
	for ; k < len(s); k++ {
		switch c := s[k]; c {
		case '"':
			return string(b), k + 1
		case '\n':
			return "", 0
		case '\\':
			r, n := escaped(s[k+1:])
			if n == 0 {
				return "", 0
			}
			b = utf8.AppendRune(b, r)
			k += n
		default:
			b = append(b, c)
		}
	}
	return "", 0
}

// escaped returns the rune of an escape after the backslash, and the escape's length.
func escaped(s string) (rune, int) {
	if s == "" {
		return 0, 0
	}
	size := 0
	switch s[0] {
	case '"', '\\':
		return rune(s[0]), 1
	case 'n':
		return '\n', 1
	case 't':
		return '\t', 1
	case 'r':
		return '\r', 1
	case 'u':
		size = 4
	case 'U':
		size = 8
	}
	if size == 0 || len(s) < size+1 {
		return 0, 0
	}
	n, err := strconv.ParseUint(s[1:size+1], 16, 32)
	if err != nil || !utf8.ValidRune(rune(n)) {
		return 0, 0
	}
	return rune(n), size + 1
}
