package document

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

func (p *jsonParser) string() (string, error) {
	start := p.at + 1
	for p.at = start; p.at < len(p.s); p.at++ {
		switch c := p.s[p.at]; {
		case c == '"':
			p.at++
			return p.s[start : p.at-1], nil
		case c == '\\':
			return p.escapedString(start)
		case c < ' ':
			return "", p.fail("control character in a text")
		}
	}
	return "", p.fail("the text ends inside quotes")
}

// escapedString parses the rest of a string from its first backslash.
func (p *jsonParser) escapedString(start int) (string, error) {
	b := []byte(p.s[start:p.at])
	for p.at < len(p.s) {
		switch c := p.s[p.at]; {
		case c == '"':
			p.at++
			return string(b), nil
		case c < ' ':
			return "", p.fail("control character in a text")
		case c == '\\':
			r, n := jsonEscape(p.s[p.at+1:])
			if n == 0 {
				return "", p.fail("bad escape in a text")
			}
			if r == 0 {
				return "", p.fail("NUL in a text")
			}
			b = utf8.AppendRune(b, r)
			p.at += 1 + n
		default:
			b = append(b, c)
			p.at++
		}
	}
	return "", p.fail("the text ends inside quotes")
}

// jsonEscape returns the rune of an escape after the backslash, including surrogate
// pairs, and its length; 0 if the escape is invalid.
func jsonEscape(s string) (rune, int) {
	if s == "" {
		return 0, 0
	}
	if at := strings.IndexByte(`"\/bfnrt`, s[0]); at >= 0 {
		return rune("\"\\/\b\f\n\r\t"[at]), 1
	}
	r := hex4(s)
	if r < 0 {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 5
	}
	if len(s) < 11 || s[5] != '\\' {
		return 0, 0
	}
	if r = utf16.DecodeRune(r, hex4(s[6:])); r == utf8.RuneError {
		return 0, 0
	}
	return r, 11
}

// hex4 parses "uXXXX" and returns -1 for other text.
func hex4(s string) rune {
	if len(s) < 5 || s[0] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(s[1:5], 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
