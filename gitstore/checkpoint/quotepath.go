package checkpoint

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
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
		switch at := strings.IndexByte("\a\b\t\n\v\f\r\"\\", c); {
		case at >= 0:
			b.WriteByte('\\')
			b.WriteByte("abtnvfr\"\\"[at])
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
	path, err := strconv.Unquote(s)
	if err != nil || strings.IndexByte(path, 0) >= 0 || QuotePath(path) != s {
		return "", fmt.Errorf("path %q: not quoted as git does", s)
	}
	return path, nil
}
