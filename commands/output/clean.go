package output

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes text from anywhere safe to show on one line of a terminal. Ends
// of lines and tabs become spaces. Other control characters, the C1 set,
// direction overrides, what is invisible, accents heaped upon each other and
// what is not UTF-8 are shown as \x.. or \u.... escapes. Text that is clean is returned as it is.
func Clean(s string) string {
	return clean(s, func(r rune) string {
		switch r {
		case '\n', '\t', '\v', '\f', '\r', 0x85, 0x2028, 0x2029:
			return " "
		}
		return ""
	})
}

// CleanBlock is Clean for text of several lines: ends of lines and tabs stay,
// and a carriage return before the end of a line goes.
func CleanBlock(s string) string {
	return clean(s, func(r rune) string {
		if r == '\n' || r == '\t' {
			return string(r)
		}
		return ""
	})
}

// clean replaces what is not harmless by what space says, else by an escape.
func clean(s string, space func(rune) string) string {
	if plain(s) {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var b strings.Builder
	marks := 0 // without room of their own, one behind the other
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

// maxMarks is how many characters that take no room may follow one that does.
// No writing needs as many; more of them cover the lines around, or hide.
const maxMarks = 6

// plain reports whether s is printable ASCII, as nearly all text is.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// harmless reports whether a terminal may get r. Spaces of other scripts and
// the joiners that writing and emoji need are; all else that cannot be seen
// is not.
func harmless(r rune) bool {
	return unicode.IsPrint(r) || unicode.Is(unicode.Zs, r) || r == 0x200c || r == 0x200d
}
