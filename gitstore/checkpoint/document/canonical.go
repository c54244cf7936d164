package document

import (
	"bytes"
	"strconv"
	"strings"
)

// ParseCanonical parses the output of emit, forty times faster than yaml.v3. The parser
// itself is lax. Correctness comes from a comparison: emit must reproduce the same bytes
// from the result. yaml.v3 parses all other text and reports all errors.
func ParseCanonical(data []byte, l Limits) (*Map, bool) {
	m, ok := ScanCanonical(data, l)
	if !ok {
		return nil, false
	}
	again, err := Emit(m, len(data)+64)
	return m, err == nil && bytes.Equal(again, data)
}

// ScanCanonical is ParseCanonical without the comparison.
func ScanCanonical(data []byte, l Limits) (*Map, bool) {
	if len(data) == 0 || data[len(data)-1] != '\n' {
		return nil, false
	}
	p := &canonical{s: string(data), limits: l}
	m := p.mapping(0, 1)
	return m, !p.failed && p.at == len(p.s)
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
		key, ok := p.key()
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

// key parses a key and its colon.
func (p *canonical) key() (string, bool) {
	rest := p.s[p.at:]
	if rest[0] == '"' {
		key, n := unquote(rest)
		if n == 0 || n >= len(rest) || rest[n] != ':' {
			return "", false
		}
		p.at += n + 1
		return key, true
	}
	n := keyEnd(rest)
	if n <= 0 {
		return "", false
	}
	p.at += n + 1
	return rest[:n], true
}

// unquote returns the double-quoted text at the start of s and its length in bytes, 0 if
// s is not an output of appendQuoted.
func unquote(s string) (string, int) {
	quoted, _ := strconv.QuotedPrefix(s)
	text, _ := strconv.Unquote(quoted)
	return text, len(quoted)
}

// keyEnd returns the index of the colon after a plain key, -1 if the line has no key.
func keyEnd(s string) int {
	for k := 0; k < len(s); k++ {
		switch s[k] {
		case '\n':
			return -1
		case ':':
			if k+1 < len(s) && (s[k+1] == ' ' || s[k+1] == '\n') {
				return k
			}
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
	p.at++ // keyEnd has checked the newline; after a quoted key the comparison detects an error
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
	p.at += end + 1
	switch s[0] {
	case '"':
		v, k := unquote(s)
		if k != len(s) {
			return p.fail()
		}
		return v
	case '|':
		return p.block(s[1:], n)
	case '{':
		return NewMap()
	case '[':
		return []any{}
	case 'n', 't', 'f':
		return word(s)
	}
	if s[0] == '-' || s[0] >= '0' && s[0] <= '9' {
		return Number(s)
	}
	return s
}

// block parses the lines of a literal block with text at column n.
func (p *canonical) block(header string, n int) any {
	start := p.at
	size, lines := 0, 0
	for p.at < len(p.s) && (p.s[p.at] == '\n' || p.column() >= n) {
		end := strings.IndexByte(p.s[p.at:], '\n')
		size += max(end-n, 0) + 1
		lines++
		p.at += end + 1
	}
	b := make([]byte, 0, size)
	for rest := p.s[start:p.at]; rest != ""; {
		line, tail, _ := strings.Cut(rest, "\n")
		if line != "" {
			b = append(b, line[n:]...)
		}
		b = append(b, '\n')
		rest = tail
	}
	if strings.HasSuffix(header, "-") && len(b) > 0 {
		b = b[:len(b)-1]
	}
	return string(b)
}

func word(s string) any {
	switch s {
	case "null":
		return nil
	case "true":
		return true
	case "false":
		return false
	}
	return s
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
	case rest[0] == '"':
		if _, k := unquote(rest); k > 0 && k < len(rest) && rest[k] == ':' {
			return p.mapping(n+2, depth+1)
		}
	case rest[0] != '|' && keyEnd(rest) > 0:
		return p.mapping(n+2, depth+1)
	}
	return p.scalar(n + 2)
}
