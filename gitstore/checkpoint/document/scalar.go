package document

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// plainWords are words that some YAML parsers read as a value other than text, in lower
// case.
var plainWords = map[string]bool{
	"null": true, "true": true, "false": true, "yes": true, "no": true,
	"on": true, "off": true, "y": true, "n": true, ".inf": true, ".nan": true,
}

// plainSafe reports whether s is text for every YAML parser without quotes. Such a text
// starts with a letter, '_', '/' or a dot and a letter, so it is not a number, date or
// indicator.
func plainSafe(s string) bool {
	if s == "" || !plainStart(s) || s[len(s)-1] == ' ' || s[len(s)-1] == ':' {
		return false
	}
	if len(s) <= 5 && plainWords[strings.ToLower(s)] {
		return false
	}
	for k := 0; k < len(s); {
		c := s[k]
		if c < utf8.RuneSelf {
			if c < ' ' || c == 0x7f || (c == ' ' && s[k+1] == '#') || (c == ':' && s[k+1] == ' ') {
				return false
			}
			k++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[k:])
		if !printable(r) || size == 1 {
			return false
		}
		k += size
	}
	return true
}

func plainStart(s string) bool {
	c := s[0]
	switch {
	case c == '.':
		return len(s) > 1 && isLetter(s[1])
	case c >= utf8.RuneSelf:
		r, _ := utf8.DecodeRuneInString(s)
		return unicode.IsLetter(r)
	}
	return isLetter(c) || c == '_' || c == '/'
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// printable reports whether a rune is written unescaped. Format characters, which can
// reorder text on a terminal, are escaped, except the joiners of scripts and emoji.
func printable(r rune) bool {
	switch r {
	case utf8.RuneError:
		return true // U+FFFD itself; invalid UTF-8 is already rejected
	case 0x200c, 0x200d:
		return true
	}
	return unicode.IsPrint(r) || unicode.Is(unicode.Zs, r)
}

// blockSafe reports whether s can be a literal block. It needs printable lines, a
// nonempty first line, and no line of only spaces or tabs.
func blockSafe(s string) bool {
	if strings.IndexByte(s, '\n') < 0 {
		return false
	}
	blank, empty := true, true // state of the current line
	for k, r := range s {
		switch {
		case r == '\n':
			if blank && (!empty || k == 0) {
				return false
			}
			blank, empty = true, true
			continue
		case r == ' ' || r == '\t':
		case !printable(r):
			return false
		default:
			blank = false
		}
		empty = false
	}
	return !blank || empty
}

const hexDigits = "0123456789ABCDEF"

// appendQuoted appends s in double quotes, with escapes common to YAML and JSON if
// possible.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for k := 0; k < len(s); {
		c := s[k]
		if c < utf8.RuneSelf {
			b = appendByte(b, c)
			k++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[k:])
		if printable(r) {
			b = append(b, s[k:k+size]...)
		} else {
			b = appendEscape(b, r)
		}
		k += size
	}
	return append(b, '"')
}

func appendByte(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\t':
		return append(b, '\\', 't')
	case '\r':
		return append(b, '\\', 'r')
	}
	if c < ' ' || c == 0x7f {
		return appendEscape(b, rune(c))
	}
	return append(b, c)
}

func appendEscape(b []byte, r rune) []byte {
	if r > 0xffff {
		b = append(b, '\\', 'U', '0', '0')
		return append(b, hexDigits[r>>20&15], hexDigits[r>>16&15], hexDigits[r>>12&15],
			hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
	}
	return append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
