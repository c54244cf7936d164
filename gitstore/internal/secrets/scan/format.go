package scan

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A format describes the secrets of a vendor: literal text, and pieces in braces. A piece
// is a class and a length: {h:32} for exactly 32 characters, {a:20-40} for 20 to 40, and
// {w:16+} for 16 or more. A secret begins after textBefore or "_", and ends
// before a character that is not in the class of the last piece.
//
// The classes are d for digits, h for hexadecimal digits, u for upper-case letters and
// digits, l for lower-case letters and digits, a for letters and digits, w for a, "_" and
// "-", b for a, "+" and "/", and x for w, "+", "/", ".", "=" and "~".
type format string

// classes contains the characters of each class, as in a bracket expression: characters and
// ranges of characters, with "-" last.
var classes = map[byte]string{
	'd': `0-9`, 'h': `0-9a-fA-F`, 'u': `0-9A-Z`, 'l': `0-9a-z`, 'a': `0-9A-Za-z`,
	'w': `0-9A-Z_a-z-`, 'x': `0-9A-Z_a-z.=~+/-`, 'b': `0-9A-Za-z+/`,
}

// A formatPiece is a literal text, or characters of a class.
type formatPiece struct {
	literal string
	class   byte   // 0 for a literal
	least   int    // number of characters
	times   string // the same in a regular expression, with the largest number
}

// pieces splits a format. It panics if the format is invalid, because formats are constants.
func (f format) pieces() (list []formatPiece) {
	for rest := string(f); rest != ""; {
		literal, after, _ := strings.Cut(rest, "{")
		if literal != "" {
			list = append(list, formatPiece{literal: literal})
		}
		var piece string
		if piece, rest, _ = strings.Cut(after, "}"); piece == "" {
			continue
		}
		class, times, _ := strings.Cut(strings.ReplaceAll(strings.Replace(piece, "+", ",", 1), "-", ","), ":")
		least, _, _ := strings.Cut(times, ",")
		number, err := strconv.Atoi(least)
		if len(class) != 1 || classes[class[0]] == "" || err != nil {
			panic(fmt.Sprintf("invalid piece %q of a format", piece))
		}
		list = append(list, formatPiece{class: class[0], least: number, times: times})
	}
	return list
}

// expression returns the format as a regular expression without boundaries.
func (f format) expression() string {
	var b strings.Builder
	for _, p := range f.pieces() {
		if p.class == 0 {
			b.WriteString(regexp.QuoteMeta(p.literal))
		} else {
			fmt.Fprintf(&b, "[%s]{%s}", classes[p.class], p.times)
		}
	}
	return b.String()
}

// end returns the regular expression for the end of the format.
func (f format) end() string {
	list := f.pieces()
	last := list[len(list)-1]
	switch {
	case last.class == 0 || strings.HasSuffix(last.times, ","):
		return ""
	case last.class == 'w' || last.class == 'x' || last.class == 'b':
		return `(?:[^` + classes[last.class] + `]|$)`
	}
	return `\b`
}

// word returns the keyword of the format: its longest literal, and the class of the piece
// after this literal.
func (f format) word() word {
	var found word
	list := f.pieces()
	for i, p := range list {
		if p.class != 0 || len(p.literal) <= len(found.text) {
			continue
		}
		found = word{text: []byte(strings.ToLower(p.literal))}
		if i+1 < len(list) {
			found.class, found.least = list[i+1].class, min(list[i+1].least, maxFollowing)
		}
	}
	return found
}

// maxFollowing limits the number of characters compared after a keyword.
const maxFollowing = 24

// textBefore is the regular expression for the text before a secret: a boundary of words, or
// the last letter of an escape, as in JSON ("\n"), in a URL ("%3D") and for a terminal's
// colour ("\x1b[31m").
const textBefore = `(?:\b|\\[nrt]|%[0-9A-Fa-f]{2}|\[[\d;]*m)`

// formatRule returns the rule for a vendor's formats. Only keywords are built at once, because
// few texts contain a keyword.
func formatRule(name string, formats ...format) rule {
	r := rule{name: name}
	for _, f := range formats {
		r.keywords = append(r.keywords, f.word())
	}
	r.pattern = sync.OnceValue(func() *regexp.Regexp {
		var each []string
		for _, f := range formats {
			each = append(each, "("+f.expression()+")"+f.end())
		}
		return regexp.MustCompile(`(?:` + textBefore + `|_)(?:` + strings.Join(each, "|") + `)`)
	})
	return r
}

// classBit returns the bit of a class in the table of classBits.
func classBit(class byte) uint8 { return 1 << strings.IndexByte("dhulawxb", class) }

// classBits returns the classes that contain a byte of a lower-case text, in either case.
var classBits = sync.OnceValue(func() *[256]uint8 {
	table := new([256]uint8)
	for class, chars := range classes {
		for i := 0; i < len(chars); i++ {
			first, last := chars[i], chars[i]
			if i+2 < len(chars) && chars[i+1] == '-' {
				last = chars[i+2]
				i += 2
			}
			for c := first; c <= last; c++ {
				table[lowered(nil, []byte{c})[0]] |= classBit(class)
			}
		}
	}
	return table
})
