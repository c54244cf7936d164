package document

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseCanonical parses a text in the canonical form, forty times faster than yaml.v3. Of other text
// it returns the first line that is not in the form; else the line is 0. The form does not depend on
// the tables of Unicode, and every YAML parser reads the same values.
func ParseCanonical(data []byte, l Limits) (m *Map, line int) {
	p := &canonical{s: string(data), limits: l}
	if p.at = strings.IndexFunc(p.s, isNoText); p.at < 0 && utf8.Valid(data) && strings.HasSuffix(p.s, "\n") {
		if p.at = 0; p.s == "{}\n" {
			return NewMap(), 0
		}
		if m = p.mapping(0, 1); !p.failed && p.at == len(p.s) {
			return m, 0
		}
	}
	return nil, strings.Count(p.s[:max(0, min(p.at, len(p.s)-1))], "\n") + 1
}

// isNoText reports whether the canonical form has no such character outside of escapes.
func isNoText(r rune) bool {
	switch r {
	case '\n', '\t':
		return false
	case 0x2028, 0x2029, 0xfeff, 0xfffe, 0xffff:
		return true
	}
	return r < ' ' || r >= 0x7f && r < 0xa0
}

// canonical is a parser for the canonical form. After a failure the parser continues to
// the end of the current element, and its results are ignored.
type canonical struct {
	s      string
	at     int
	nodes  int
	limits Limits
	failed bool
}

// mapping parses keys at column n. The first key may start at the current position.
func (p *canonical) mapping(n, depth int) *Map {
	m := NewMap()
	if !p.enter(depth) {
		return m
	}
	for first := true; !p.failed; first = false {
		if !first || p.lineStart() {
			if p.column() != n || p.s[p.at+n] == '-' {
				break
			}
			p.at += n
		}
		key, ok := p.key(n)
		if !ok || m.Find(key) >= 0 {
			p.failed = true
			break
		}
		p.count(2)
		m.Add(key, p.value(n, depth))
	}
	if m.Len() == 0 {
		p.failed = true
	}
	return m
}

// enter fails if a container is nested too deep.
func (p *canonical) enter(depth int) bool {
	if depth > p.limits.Depth {
		p.failed = true
	}
	return !p.failed
}

func (p *canonical) lineStart() bool { return p.at == 0 || p.s[p.at-1] == '\n' }

// column returns the number of leading spaces of the current line, -1 at the end.
func (p *canonical) column() int {
	k := p.at
	for k < len(p.s) && p.s[k] == ' ' {
		k++
	}
	if k == len(p.s) {
		return -1
	}
	return k - p.at
}

// key parses a key and its colon. A long key follows "? ", and its colon begins the next line.
func (p *canonical) key(n int) (string, bool) {
	rest, isLong := strings.CutPrefix(p.s[p.at:], "? ")
	end := keyEnd(rest)
	if isLong {
		end = strings.IndexByte(rest, '\n')
		if next := rest[max(end, 0):]; !strings.HasPrefix(next, "\n"+strings.Repeat(" ", n)+":") || !strings.HasPrefix(next[n+2:], " ") && !strings.HasPrefix(next[n+2:], "\n") {
			return "", false
		}
		p.at += len("? \n") + n
	}
	if end <= 0 || !isLong && end > maxSimpleKey {
		return "", false
	}
	p.at += end + 1
	if rest[0] == '"' {
		return unquote(rest[:end])
	}
	return rest[:end], isPlain(rest[:end])
}

// unquote returns the text in double quotes, and whether it is in the canonical form.
func unquote(s string) (string, bool) {
	for k := 0; k+1 < len(s); k++ {
		if s[k] == '\\' {
			if k++; strings.IndexByte(`"\nrtuU`, s[k]) < 0 {
				return "", false
			}
		}
	}
	text, err := strconv.Unquote(s)
	return text, err == nil && strings.IndexByte(text, 0) < 0 && strings.IndexByte(s, '\t') < 0
}

// keyEnd returns the index of the colon after a key, plain or in quotes, -1 if the line has no key.
func keyEnd(s string) int {
	isQuoted := strings.HasPrefix(s, `"`)
	for k := 0; k+1 < len(s) && s[k] != '\n'; k++ {
		switch {
		case isQuoted && s[k] == '\\':
			k++
		case isQuoted && k > 0 && s[k] == '"':
			if isQuoted = false; s[k+1] != ':' {
				return -1
			}
		case !isQuoted && s[k] == ':' && (s[k+1] == ' ' || s[k+1] == '\n'):
			return k
		}
	}
	return -1
}

// count fails if the number of nodes exceeds the limit.
func (p *canonical) count(n int) {
	if p.nodes += n; p.nodes > p.limits.Nodes {
		p.failed = true
	}
}

// value parses the value after a key at column n.
func (p *canonical) value(n, depth int) any {
	if p.at >= len(p.s) {
		return p.fail()
	}
	if p.s[p.at] == ' ' {
		p.at++
		return p.scalar(n + 2)
	}
	p.at++ // the newline
	if p.column() != n+2 {
		return p.fail()
	}
	if p.s[p.at+n+2] == '-' {
		return p.list(n+2, depth+1)
	}
	return p.mapping(n+2, depth+1)
}

func (p *canonical) fail() any {
	p.failed = true
	return nil
}

// scalar parses the rest of the line, or a literal block at column n.
func (p *canonical) scalar(n int) any {
	end := strings.IndexByte(p.s[p.at:], '\n')
	if end <= 0 {
		return p.fail()
	}
	s := p.s[p.at : p.at+end]
	switch {
	case s[0] == '"':
		if text, ok := unquote(s); ok {
			p.at += end + 1
			return text
		}
		return p.fail()
	case s[0] == '|':
		p.at += end + 1
		return p.block(s[1:], n)
	}
	v, ok := canonicalWords[s]
	switch {
	case s == "{}":
		v, ok = NewMap(), true
	case s == "[]":
		v, ok = []any{}, true
	case !ok && isNumber(s):
		v, ok = Number(s), true
	case !ok:
		v, ok = s, isPlain(s)
	}
	if !ok {
		return p.fail()
	}
	p.at += end + 1
	return v
}

var canonicalWords = map[string]any{"null": nil, "true": true, "false": false}

// block parses the lines of a literal block with text at column n. Its header has 2 if the text begins
// with a space or tab, - if it ends without an end of line, and + if it ends with several.
func (p *canonical) block(header string, n int) any {
	start, indent := p.at, strings.Repeat(" ", n)
	var b strings.Builder
	for p.at < len(p.s) && (p.s[p.at] == '\n' || p.column() >= n) {
		line, _, _ := strings.Cut(p.s[p.at:], "\n")
		if line != "" && strings.Trim(line, " \t") == "" {
			return p.fail()
		}
		b.WriteString(strings.TrimPrefix(line, indent) + "\n")
		p.at += len(line) + 1
	}
	text, want := b.String(), ""
	if strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\t") {
		want = "2"
	}
	switch {
	case strings.HasSuffix(text, "\n\n"):
		want += "+"
	case strings.HasSuffix(header, "-"):
		text, want = strings.TrimSuffix(text, "\n"), want+"-"
	}
	if header != want || text == "" || text[0] == '\n' {
		p.at = start
		return p.fail()
	}
	return text
}

// list parses elements at column n. The first element may start at the current position.
func (p *canonical) list(n, depth int) any {
	l := []any{}
	if !p.enter(depth) {
		return l
	}
	for first := true; !p.failed; first = false {
		if !first || p.lineStart() {
			if p.column() != n || !strings.HasPrefix(p.s[p.at+n:], "- ") {
				break
			}
			p.at += n
		}
		p.at += 2
		p.count(1)
		l = append(l, p.item(n, depth))
	}
	return l
}

// item parses an element with its dash at column n.
func (p *canonical) item(n, depth int) any {
	rest := p.s[p.at:]
	switch {
	case rest == "":
		return p.fail()
	case strings.HasPrefix(rest, "- "):
		return p.list(n+2, depth+1)
	case rest[0] != '|' && keyEnd(rest) > 0, strings.HasPrefix(rest, "? "):
		return p.mapping(n+2, depth+1)
	}
	return p.scalar(n + 2)
}
