package fsutil

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
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
	other := strings.Map(func(r rune) rune { // the name with the other case of each letter
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, name)
	if other == name { // no letters
		other += invisible
	}
	return opens(other)
}

// FoldName returns a form of a name that is equal for all names that some file system may treat
// as equal: without case by Unicode's full case folding, in Unicode's decomposed form, and
// without invisible characters.
func FoldName(name string) string {
	if IsASCII(name) {
		return strings.ToLower(name)
	}
	visible := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return -1
		}
		return r
	}, name)
	return norm.NFD.String(cases.Fold().String(norm.NFD.String(visible)))
}

// IsASCII reports whether name has no letters beyond ASCII, whose form some file systems
// normalize.
func IsASCII(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf })
}
