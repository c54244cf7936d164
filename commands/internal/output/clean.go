package output

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes untrusted text safe for one terminal line. It replaces line ends and tabs
// by spaces. It escapes other control characters including C1, direction overrides,
// invisible characters, long runs of combining marks and invalid UTF-8 as \x.. or \u....
// sequences. Clean text is returned unchanged.
func Clean(s string) string {
	return clean(s, func(r rune) string {
		switch r {
		case '\n', '\t', '\v', '\f', '\r', 0x85, 0x2028, 0x2029:
			return " "
		}
		return ""
	})
}

// CleanBlock is Clean for multi-line text: it preserves line ends and tabs, and removes a
// carriage return before a line end.
func CleanBlock(s string) string {
	return clean(s, func(r rune) string {
		if r == '\n' || r == '\t' {
			return string(r)
		}
		return ""
	})
}

// clean replaces unsafe characters by the result of space or, if that is empty, by an
// escape.
func clean(s string, space func(rune) string) string {
	if plain(s) {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var b strings.Builder
	marks := 0 // consecutive zero-width characters
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		text := space(r)
		if marks++; runeWidth(r) > 0 || text != "" {
			marks = 0
		}
		switch {
		case text != "":
			b.WriteString(text)
		case r == utf8.RuneError && size == 1, r < 0x80 && !harmless(r):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case harmless(r) && marks <= maxMarks:
			b.WriteString(s[i : i+size])
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += size
	}
	return b.String()
}

// maxMarks limits zero-width characters after a visible character. No script needs more;
// longer runs cover adjacent lines or hide text.
const maxMarks = 6

// plain reports whether s is printable ASCII, the most common case.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// harmless reports whether r is safe for a terminal. Spaces of other scripts, and joiners
// for scripts and emoji, are safe; other invisible characters are not.
func harmless(r rune) bool {
	return unicode.IsPrint(r) || unicode.Is(unicode.Zs, r) || r == 0x200c || r == 0x200d
}
