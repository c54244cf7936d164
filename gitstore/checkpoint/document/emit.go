package document

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Emit returns the canonical text of a document.
func Emit(m *Map, size int) ([]byte, error) {
	e := &emitter{b: make([]byte, 0, size)}
	if m.Len() == 0 {
		return append(e.b, "{}\n"...), nil
	}
	e.mapping(m, 0, 1)
	return e.b, e.err
}

// emitter writes the canonical form. It does not use yaml.v3, which loses the first
// newline of some texts and writes tabs that its own parser rejects.
//
// The form uses block style with two spaces per level, and lists are indented below their
// key. Text is plain if unambiguous, a literal block if it has several lines, and
// otherwise double-quoted. Empty containers are {} and [].
type emitter struct {
	b   []byte
	err error
}

var errDeep = errors.New("too deep")

// mapping writes the keys of m at column n. If the output is not at the start of a line,
// the first key continues the current line.
func (e *emitter) mapping(m *Map, n, depth int) {
	for k := range m.Entries {
		if len(e.b) == 0 || e.b[len(e.b)-1] == '\n' {
			e.indent(n)
		}
		e.key(m.Entries[k].Key, n)
		e.value(m.Entries[k].Value, n+2, depth+1, m.Entries[k].Key, true)
	}
}

func (e *emitter) fail(path string, err error) {
	if e.err == nil {
		e.err = fmt.Errorf("%s: %w", path, err)
	}
}

const spaces = "                                                                "

func (e *emitter) indent(n int) {
	for ; n > len(spaces); n -= len(spaces) {
		e.b = append(e.b, spaces...)
	}
	e.b = append(e.b, spaces[:n]...)
}

// maxSimpleKey is the maximum length of a key without the '?' form. YAML permits 1024
// characters.
const maxSimpleKey = 1000

func (e *emitter) key(key string, n int) {
	start := len(e.b)
	e.string(key, key)
	if len(e.b)-start > maxSimpleKey {
		written := string(e.b[start:])
		e.b = append(append(e.b[:start], "? "...), written...)
		e.b = append(e.b, '\n')
		e.indent(n)
	}
	e.b = append(e.b, ':')
}

func (e *emitter) string(s, key string) {
	if plainSafe(s) {
		e.b = append(e.b, s...)
		return
	}
	switch {
	case strings.IndexByte(s, 0) >= 0:
		e.fail(key, errors.New("contains a NUL"))
	case !utf8.ValidString(s):
		e.fail(key, errors.New("not valid UTF-8"))
	}
	e.b = appendQuoted(e.b, s, false)
}

// plainWords are words that some YAML parsers read as a value other than text, in lower
// case.
var plainWords = map[string]bool{
	"null": true, "true": true, "false": true, "yes": true, "no": true,
	"on": true, "off": true, "y": true, "n": true, ".inf": true, ".nan": true,
}

// plainSafe reports whether s is written without quotes.
func plainSafe(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	isPrintable := func(r rune) bool { return r < utf8.RuneSelf || printable(r) }
	return isPlain(s) && (first < utf8.RuneSelf || unicode.IsLetter(first)) && utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !isPrintable(r) }) < 0
}

// isPlain reports whether s is text for every YAML parser without quotes, if all characters are
// printable. Such a text starts with a letter, '_', '/' or a dot and a letter, so it is not a number,
// date or indicator. This is a rule of the stored form.
func isPlain(s string) bool {
	switch {
	case s == "", s[len(s)-1] == ' ', s[len(s)-1] == ':', len(s) <= 5 && plainWords[strings.ToLower(s)]:
		return false
	case s[0] == '.' && len(s) > 1 && isLetter(s[1]), s[0] == '_', s[0] == '/', isLetter(s[0]), s[0] >= utf8.RuneSelf:
	default:
		return false
	}
	for k := range len(s) {
		if c := s[k]; c < ' ' || c == 0x7f || (c == ' ' && s[k+1] == '#') || (c == ':' && s[k+1] == ' ') {
			return false
		}
	}
	return true
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

// appendQuoted appends s in double quotes, with escapes common to YAML and JSON if
// possible. Only JSON has surrogates, and only YAML an escape for runes that need them.
func appendQuoted(b []byte, s string, json bool) []byte {
	b = append(b, '"')
	for _, r := range s {
		at := strings.IndexRune("\"\\\n\t\r", r)
		switch {
		case at >= 0:
			b = append(b, '\\', `"\ntr`[at])
		case printable(r):
			b = utf8.AppendRune(b, r)
		case json && r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = appendEscape(appendEscape(b, high), low)
		default:
			b = appendEscape(b, r)
		}
	}
	return append(b, '"')
}

const hexDigits = "0123456789ABCDEF"

func appendEscape(b []byte, r rune) []byte {
	b, size := append(b, '\\', 'u'), 16
	if r > 0xffff {
		b[len(b)-1], size = 'U', 32
	}
	for size > 0 {
		size -= 4
		b = append(b, hexDigits[r>>size&15])
	}
	return b
}

// value writes the value of a key or of an element, whose text begins at column n. The first line
// of a container continues the current line after a dash.
func (e *emitter) value(v any, n, depth int, key string, afterKey bool) {
	m, _ := v.(*Map)
	l, _ := v.([]any)
	isScalar := m.Len()+len(l) == 0
	switch {
	case afterKey && isScalar:
		e.b = append(e.b, ' ')
	case afterKey:
		e.b = append(e.b, '\n')
	}
	switch {
	case isScalar:
		e.scalar(v, n, key)
	case depth > DefaultLimits.Depth:
		e.fail(key, errDeep)
	case m != nil:
		e.mapping(m, n, depth)
	default:
		for _, v := range l {
			if e.b[len(e.b)-1] == '\n' {
				e.indent(n)
			}
			e.b = append(e.b, '-', ' ')
			e.value(v, n+2, depth+1, "list", false)
		}
	}
}

// scalar writes a value on the current line, or a block at column n.
func (e *emitter) scalar(v any, n int, key string) {
	switch v := v.(type) {
	case nil:
		e.b = append(e.b, "null"...)
	case bool:
		e.b = strconv.AppendBool(e.b, v)
	case Number:
		if !isNumber(string(v)) {
			e.fail(key, fmt.Errorf("%.40q is not a number", string(v)))
		}
		e.b = append(e.b, v...)
	case string:
		if blockSafe(v) && utf8.ValidString(v) {
			e.block(v, n)
			return
		}
		e.string(v, key)
	case *Map:
		e.b = append(e.b, "{}"...)
	case []any:
		e.b = append(e.b, "[]"...)
	default:
		e.fail(key, fmt.Errorf("a %T cannot be written", v))
	}
	e.b = append(e.b, '\n')
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

// block writes a literal block. If the text starts with a space or tab, the header needs
// an explicit indentation.
func (e *emitter) block(s string, n int) {
	e.b = append(e.b, '|')
	if s[0] == ' ' || s[0] == '\t' {
		e.b = append(e.b, '2')
	}
	body := strings.TrimRight(s, "\n")
	switch len(s) - len(body) {
	case 0:
		e.b = append(e.b, '-')
	case 1:
	default:
		e.b = append(e.b, '+')
	}
	e.b = append(e.b, '\n')
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" {
			e.indent(n)
			e.b = append(e.b, line...)
		}
		e.b = append(e.b, '\n')
	}
	for range len(s) - len(body) - 1 {
		e.b = append(e.b, '\n')
	}
}
