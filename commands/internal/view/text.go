package view

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"git-checkpoint/gitstore/failure"

	"github.com/clipperhouse/displaywidth"
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

// Width returns the number of terminal cells of s.
func Width(s string) int {
	if plain(s) {
		return len(s)
	}
	return displaywidth.String(s)
}

// Truncate shortens s to at most n cells; shortened text ends in "...".
func Truncate(s string, n int) string {
	if n < 0 || Width(s) <= n {
		return s
	}
	dots := "..."[:min(3, n)]
	head, _ := Cut(s, n-len(dots))
	return head + dots
}

// Cut splits s after at most n cells. Combining characters stay with their base
// character.
func Cut(s string, n int) (head, rest string) {
	at := 0
	for g := displaywidth.StringGraphemes(s); g.Next() && n >= g.Width(); {
		at, n = at+len(g.Value()), n-g.Width()
	}
	return s[:at], s[at:]
}

// Shell quotes any s as one word of a POSIX shell. NUL bytes are removed, because shell
// words cannot contain them. The result is exact but not clean: it may be unsafe for
// terminals. No line of the result is a command of a CI runner.
func Shell(s string) string {
	line := lineStart{colons: -1} // a variable's name stands before the word
	return line.breakCommands(failure.QuoteStrict(s), func(last byte) string { return "''" + string(last) })
}

// maxMarks limits zero-width characters after a visible character. No script needs more;
// longer runs cover adjacent lines or hide text.
const maxMarks = 6

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
		if plain(s[i : i+1]) { // most of a page
			b.WriteByte(s[i])
			i, marks = i+1, 0
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		text := space(r)
		if marks++; displaywidth.Rune(r) > 0 || text != "" {
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
