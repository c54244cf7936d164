package gitconfig

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"
)

// A variable is a setting of a configuration file.
type variable struct{ key, value string }

// parse parses the syntax in section CONFIGURATION FILE of git-config(1). It returns
// false if git rejects the file, if git versions differ (tabs within values, continuation
// lines), and for includes.
func parse(data []byte) ([]variable, bool) {
	if bytes.IndexByte(data, 0) >= 0 {
		return nil, false
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	p := &parser{text: strings.ReplaceAll(string(data), "\r\n", "\n")}
	for p.more() {
		if !p.item() {
			return nil, false
		}
	}
	return p.found, true
}

// A parser has parsed text up to offset at.
type parser struct {
	text    string
	at      int
	section string // with a final dot; "" before the first section
	found   []variable
}

// more skips spaces and comments and reports whether an item follows.
func (p *parser) more() bool {
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '#' || c == ';':
			p.skipLine()
		case !isSpace(c):
			return true
		}
	}
	return false
}

// skipLine skips to the next line break or the end.
func (p *parser) skipLine() {
	for p.at < len(p.text) && p.text[p.at] != '\n' {
		p.at++
	}
}

// next returns the next byte. Like git, it returns a line break at the end of the text.
func (p *parser) next() byte {
	if p.at >= len(p.text) {
		return '\n'
	}
	p.at++
	return p.text[p.at-1]
}

// item parses a section header or a variable.
func (p *parser) item() bool {
	if p.text[p.at] == '[' {
		p.at++
		return p.head()
	}
	if !isLetter(p.text[p.at]) || p.section == "" {
		return false
	}
	return p.variable()
}

// head parses `section]`, `section.sub]` or `section "Sub"]`.
func (p *parser) head() bool {
	start := p.at
	for p.at < len(p.text) && (isKey(p.text[p.at]) || p.text[p.at] == '.') {
		p.at++
	}
	name := strings.ToLower(p.text[start:p.at])
	if name == "" || strings.HasPrefix(name, "include") {
		return false
	}
	switch c := p.next(); {
	case c == ']':
		p.section = name + "."
		return true
	case c == ' ' || c == '\t':
		sub, ok := p.subsection()
		p.section = name + "." + sub + "."
		return ok && p.next() == ']'
	}
	return false
}

// subsection parses `"Sub"`, in which a backslash escapes any byte.
func (p *parser) subsection() (string, bool) {
	c := p.next()
	for c == ' ' || c == '\t' {
		c = p.next()
	}
	if c != '"' {
		return "", false
	}
	var sub strings.Builder
	for c = p.next(); c != '"'; c = p.next() {
		if c == '\\' {
			c = p.next()
		}
		if c == '\n' {
			return "", false
		}
		sub.WriteByte(c)
	}
	return sub.String(), true
}

// variable parses `name` or `name = value`.
func (p *parser) variable() bool {
	start := p.at
	for p.at < len(p.text) && isKey(p.text[p.at]) {
		p.at++
	}
	name := strings.ToLower(p.text[start:p.at])
	c := p.next()
	for c == ' ' || c == '\t' {
		c = p.next()
	}
	value, ok := "true", true
	switch c {
	case '\n':
	case '=':
		value, ok = p.value()
	default:
		return false
	}
	p.found = append(p.found, variable{p.section + name, value})
	return ok
}

// value parses a value up to the end of the line. It removes quotes, surrounding spaces
// and comments.
func (p *parser) value() (string, bool) {
	var text, space strings.Builder
	quoted := false
	for c := p.next(); c != '\n' || quoted; c = p.next() {
		switch {
		case c == '\n':
			return "", false
		case quoted:
		case c == '#' || c == ';':
			p.skipLine()
			continue
		case isSpace(c):
			if text.Len() > 0 {
				space.WriteByte(c)
			}
			continue
		}
		if strings.ContainsAny(space.String(), "\t\r") {
			return "", false
		}
		text.WriteString(space.String())
		space.Reset()
		if c == '"' {
			quoted = !quoted
			continue
		}
		ok := true
		if c == '\\' {
			c, ok = unescape(p.next())
		}
		if !ok {
			return "", false
		}
		text.WriteByte(c)
	}
	return text.String(), true
}

// unescape returns the byte for an escape sequence, a backslash and c.
func unescape(c byte) (byte, bool) {
	switch c {
	case 't':
		return '\t', true
	case 'b':
		return '\b', true
	case 'n':
		return '\n', true
	case '\\', '"':
		return c, true
	}
	return 0, false
}

// escapes are the escape sequences of a value, of which git reads no others.
var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`)

// Quote returns the text of a configuration file for any value.
func Quote(value string) string { return `"` + escapes.Replace(value) + `"` }

// Character classes are git's: only ASCII, without \v and \f.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isKey(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' || c == '-' }

// maxFile is the maximum file size in bytes.
const maxFile = 1 << 20

var errIrregular = errors.New("not a small regular file")

// ReadFile reads a small file of a repository's setup, such as HEAD or config. It fails
// for irregular files and for files above 1 MiB, because the repository may be hostile:
// reading a pipe or a device might never end.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errIrregular}
	}
	return os.ReadFile(path)
}
