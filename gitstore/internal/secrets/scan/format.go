package scan

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A format describes the secrets of a vendor: literal text, and pieces in braces. A piece is a class
// and the number of its characters, as in a regular expression: {h:32}, {a:20,40} or {w:16,}. A
// secret begins after textBefore or "_", and ends before a character that is not in the class of the
// last piece.
//
// The classes are d for digits, h for hexadecimal digits, u for upper-case letters and
// digits, l for lower-case letters and digits, a for letters and digits, w for a, "_" and
// "-", b for a, "+" and "/", and x for w, "+", "/", ".", "=" and "~".
type format string

const (
	digits  = "0123456789"
	lower   = digits + "abcdefghijklmnopqrstuvwxyz"
	letters = lower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// classes contains the characters of each class, with "-" last, as in a bracket expression.
var classes = map[string]string{
	"d": digits, "h": "0123456789abcdefABCDEF", "u": strings.ToUpper(lower), "l": lower, "a": letters,
	"w": letters + "_-", "x": letters + "_.=~+/-", "b": letters + "+/",
}

// expression returns the format as a regular expression without boundaries.
func (f format) expression() string {
	pairs := []string{".", `\.`}
	for class, chars := range classes {
		pairs = append(pairs, "{"+class+":", "["+chars+"]{")
	}
	return strings.NewReplacer(pairs...).Replace(string(f))
}

// end returns the regular expression for the end of the format.
func (f format) end() string {
	last := string(f[strings.LastIndexByte(string(f), '{')+1:])
	switch class := last[:1]; {
	case !strings.HasSuffix(last, "}") || strings.HasSuffix(last, ",}"):
		return ""
	case strings.Contains("wxb", class):
		return `(?:[^` + classes[class] + `]|$)`
	}
	return `\b`
}

// word returns the keyword of the format: its longest literal, and the piece after this literal.
func (f format) word() (found word) {
	parts := strings.Split("}"+string(f), "{") // a piece and a literal each
	for i, part := range parts {
		_, literal, _ := strings.Cut(part, "}")
		if len(literal) <= len(found.text) {
			continue
		}
		found = word{text: []byte(strings.ToLower(literal))}
		if i+1 < len(parts) {
			piece, _, _ := strings.Cut(parts[i+1], "}")
			class, times, _ := strings.Cut(piece, ":")
			times, _, _ = strings.Cut(times, ",")
			least, _ := strconv.Atoi(times)
			found.after, found.least = strings.ToLower(classes[class]), min(least, maxFollowing)
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
