package output

import (
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Width returns the number of terminal cells of s. A pictograph after a zero-width joiner
// has width 0; letters after a joiner keep their width.
func Width(s string) int {
	if plain(s) {
		return len(s)
	}
	n := 0
	for m := (measure{}); s != ""; {
		var size, cells int
		size, cells = m.next(s)
		s, n = s[size:], n+cells
	}
	return n
}

// A measure computes the width of consecutive characters.
type measure struct {
	picture bool // previous visible character is a pictograph
	joined  bool // a joiner follows the pictograph
}

func (m *measure) next(s string) (size, cells int) {
	r, size := utf8.DecodeRuneInString(s)
	cells = runeWidth(r)
	switch {
	case r == 0x200d:
		m.joined = m.picture
		return size, 0
	case cells == 0:
		return size, 0
	}
	picture := unicode.Is(unicode.So, r)
	if m.joined && picture {
		cells = 0
	}
	m.picture, m.joined = picture, false
	return size, cells
}

// runeWidth returns the width of a single character.
func runeWidth(r rune) int {
	switch {
	case r >= 0x1160 && r <= 0x11ff: // Hangul vowels and finals share the cells of the initial
		return 0
	case r >= 0x1f1e6 && r <= 0x1f1ff: // regional indicators; two form a flag of two cells
		return 1
	}
	return displaywidth.Rune(r)
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
	at, used := 0, 0
	for m := (measure{}); at < len(s); {
		size, cells := m.next(s[at:])
		if used += cells; used > n {
			break
		}
		at += size
	}
	return s[:at], s[at:]
}
