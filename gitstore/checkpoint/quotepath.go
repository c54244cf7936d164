package checkpoint

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	pathLetters = "abtnvfr\"\\"
	pathBytes   = "\a\b\t\n\v\f\r\"\\"
)

// QuotePath returns the form of a path in records. If the path is invalid UTF-8, contains
// a NUL or starts with '"', it is written in git's C quotes with octal escapes. Other
// paths are unchanged.
func QuotePath(path string) string {
	if plainPath(path) {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for k := 0; k < len(path); k++ {
		c := path[k]
		switch at := strings.IndexByte(pathBytes, c); {
		case at >= 0:
			b.WriteByte('\\')
			b.WriteByte(pathLetters[at])
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func plainPath(path string) bool {
	return utf8.ValidString(path) && !strings.HasPrefix(path, `"`) && strings.IndexByte(path, 0) < 0
}

// UnquotePath returns the path for an output of QuotePath. It rejects other text, and
// paths with a NUL.
func UnquotePath(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		if !plainPath(s) {
			return "", fmt.Errorf("path %q: not quoted", s)
		}
		return s, nil
	}
	path, ok := cUnquote(s)
	if !ok || strings.IndexByte(path, 0) >= 0 || QuotePath(path) != s {
		return "", fmt.Errorf("path %q: not quoted as git does", s)
	}
	return path, nil
}

func cUnquote(s string) (string, bool) {
	if len(s) < 2 || s[len(s)-1] != '"' {
		return "", false
	}
	s = s[1 : len(s)-1]
	var b strings.Builder
	for k := 0; k < len(s); k++ {
		if s[k] != '\\' {
			b.WriteByte(s[k])
			continue
		}
		c, n := cEscape(s[k+1:])
		if n == 0 {
			return "", false
		}
		b.WriteByte(c)
		k += n
	}
	return b.String(), true
}

// cEscape returns the byte of an escape after the backslash and the escape's length, 0 if
// s is not an escape.
func cEscape(s string) (byte, int) {
	if s == "" {
		return 0, 0
	}
	if at := strings.IndexByte(pathLetters, s[0]); at >= 0 {
		return pathBytes[at], 1
	}
	if len(s) < 3 {
		return 0, 0
	}
	n := 0
	for _, c := range []byte(s[:3]) {
		if c < '0' || c > '7' {
			return 0, 0
		}
		n = n<<3 | int(c-'0')
	}
	if n > 0xff {
		return 0, 0
	}
	return byte(n), 3
}
