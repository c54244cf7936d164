package fsutil

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// invisible is a character that file systems ignore if they fold names by Unicode's rules.
const invisible = "\u200c"

// MayBeAlias reports whether the file that a name opens may have another name in its
// directory. Some file systems ignore case and invisible characters, normalize letters beyond
// ASCII, drop dots and spaces at the end, or have short names such as LONGNA~1. MayBeAlias
// calls opens at most once. opens reports whether another name opens the same file.
func MayBeAlias(name string, opens func(other string) bool) bool {
	if !IsASCII(name) || strings.Contains(name, "~") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") {
		return true
	}
	other := swapCase(name)
	if other == name { // no letters
		other += invisible
	}
	return opens(other)
}

// swapCase returns name with upper-case letters in lower case and the others in upper case.
func swapCase(name string) string {
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
