package fsutil

import (
	"strings"
	"unicode"
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
