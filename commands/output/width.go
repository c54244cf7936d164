package output

import (
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Width is how many cells of a terminal s fills. A picture that is joined to
// another one with a zero-width joiner takes no room of its own; letters that
// are do.
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

// A measure goes through a text and tells what room each character takes.
type measure struct {
	picture bool // the last one that took room was a picture
	joined  bool // and a joiner stands behind it
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

// runeWidth returns the cells of one character by itself.
func runeWidth(r rune) int {
	switch {
	case r >= 0x1160 && r <= 0x11ff: // vowels and finals of a Hangul syllable, which its initial has room for
		return 0
	case r >= 0x1f1e6 && r <= 0x1f1ff: // letters, two of which are a flag of two cells
		return 1
	}
	return displaywidth.Rune(r)
}

// Truncate cuts s to at most n cells; what is cut ends in "...".
func Truncate(s string, n int) string {
	if n < 0 || Width(s) <= n {
		return s
	}
	dots := "..."[:min(3, n)]
	head, _ := Cut(s, n-len(dots))
	return head + dots
}

// Cut takes the beginning of s that fills at most n cells. Combining characters
// stay with the one they belong to.
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
