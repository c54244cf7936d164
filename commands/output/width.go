package output

import (
	"sort"
	"unicode"
	"unicode/utf8"
)

// wide are the ranges of characters that fill two cells: East Asian wide and
// full-width ones, and those that are shown as emoji.
var wide = [][2]rune{
	{0x1100, 0x115f},
	{0x231a, 0x231b},
	{0x2329, 0x232a},
	{0x23e9, 0x23ec},
	{0x23f0, 0x23f0},
	{0x23f3, 0x23f3},
	{0x25fd, 0x25fe},
	{0x2614, 0x2615},
	{0x2648, 0x2653},
	{0x267f, 0x267f},
	{0x2693, 0x2693},
	{0x26a1, 0x26a1},
	{0x26aa, 0x26ab},
	{0x26bd, 0x26be},
	{0x26c4, 0x26c5},
	{0x26ce, 0x26ce},
	{0x26d4, 0x26d4},
	{0x26ea, 0x26ea},
	{0x26f2, 0x26f3},
	{0x26f5, 0x26f5},
	{0x26fa, 0x26fa},
	{0x26fd, 0x26fd},
	{0x2705, 0x2705},
	{0x270a, 0x270b},
	{0x2728, 0x2728},
	{0x274c, 0x274c},
	{0x274e, 0x274e},
	{0x2753, 0x2755},
	{0x2757, 0x2757},
	{0x2795, 0x2797},
	{0x27b0, 0x27b0},
	{0x27bf, 0x27bf},
	{0x2b1b, 0x2b1c},
	{0x2b50, 0x2b50},
	{0x2b55, 0x2b55},
	{0x2e80, 0x303e},
	{0x3041, 0x3247},
	{0x3250, 0x4dbf},
	{0x4e00, 0xa4cf},
	{0xa960, 0xa97f},
	{0xac00, 0xd7a3},
	{0xf900, 0xfaff},
	{0xfe10, 0xfe19},
	{0xfe30, 0xfe6f},
	{0xff01, 0xff60},
	{0xffe0, 0xffe6},
	{0x16fe0, 0x18d08},
	{0x1aff0, 0x1b2fb},
	{0x1f004, 0x1f004},
	{0x1f0cf, 0x1f0cf},
	{0x1f18e, 0x1f18e},
	{0x1f191, 0x1f19a},
	{0x1f200, 0x1f320},
	{0x1f32d, 0x1f335},
	{0x1f337, 0x1f37c},
	{0x1f37e, 0x1f393},
	{0x1f3a0, 0x1f3ca},
	{0x1f3cf, 0x1f3d3},
	{0x1f3e0, 0x1f3f0},
	{0x1f3f4, 0x1f3f4},
	{0x1f3f8, 0x1f43e},
	{0x1f440, 0x1f440},
	{0x1f442, 0x1f4fc},
	{0x1f4ff, 0x1f53d},
	{0x1f54b, 0x1f54e},
	{0x1f550, 0x1f567},
	{0x1f57a, 0x1f57a},
	{0x1f595, 0x1f596},
	{0x1f5a4, 0x1f5a4},
	{0x1f5fb, 0x1f64f},
	{0x1f680, 0x1f6c5},
	{0x1f6cc, 0x1f6cc},
	{0x1f6d0, 0x1f6d2},
	{0x1f6d5, 0x1f6df},
	{0x1f6eb, 0x1f6ec},
	{0x1f6f4, 0x1f6fc},
	{0x1f7e0, 0x1f7eb},
	{0x1f7f0, 0x1f7f0},
	{0x1f90c, 0x1f93a},
	{0x1f93c, 0x1f945},
	{0x1f947, 0x1f9ff},
	{0x1fa70, 0x1faff},
	{0x20000, 0x3fffd},
}

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

func runeWidth(r rune) int {
	switch {
	case r >= ' ' && r < 0x7f:
		return 1
	case r < ' ' || r >= 0x1160 && r <= 0x11ff || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Cc):
		return 0
	}
	i := sort.Search(len(wide), func(i int) bool { return wide[i][1] >= r })
	if i < len(wide) && wide[i][0] <= r {
		return 2
	}
	return 1
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
