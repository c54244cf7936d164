package fsutil

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// SwapCase returns name with upper-case letters in lower case and the others in upper case.
// If a file has both names, its file system ignores case.
func SwapCase(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, name)
}

// IsASCII reports whether name has no letters beyond ASCII, whose form some file systems
// normalize.
func IsASCII(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf })
}
