package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A node is a value with its position in JSON text. Comments and trailing commas are
// allowed, as in editors.
type node struct {
	kind       byte // {, [ or "; v for other values
	start, end int
	items      []node // values of an object or array
	keys       []node // keys of an object
}

var errJSON = errors.New("not a JSON object with comments")

// parseJSON parses a complete JSON text.
func parseJSON(text string) (node, error) {
	p := &parser{text: text}
	p.skip()
	n, err := p.value(0)
	if err != nil {
		return n, err
	}
	if p.skip(); p.at < len(text) {
		return n, p.bad()
	}
	return n, nil
}

type parser struct {
	text string
	at   int
}

const maxDepth = 200

func (p *parser) bad() error { return syntaxError(errJSON, p.text, p.at) }

// syntaxError adds line and column of an offset to err.
func syntaxError(err error, text string, at int) error {
	before := text[:min(at, len(text))]
	line := 1 + strings.Count(before, "\n")
	column := 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	return fmt.Errorf("%w: line %d, column %d", err, line, column)
}

func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// skip advances past white space and comments.
func (p *parser) skip() {
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			p.at++
		case strings.HasPrefix(rest, "\ufeff") && p.at == 0:
			p.at += len("\ufeff")
		case strings.HasPrefix(rest, "//"):
			p.at += upTo(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			p.at += upTo(rest, "*/") + len("*/")
		default:
			return
		}
	}
}

// upTo returns the offset of what in s, or the length of s.
func upTo(s, what string) int {
	if i := strings.Index(s, what); i >= 0 {
		return i
	}
	return len(s)
}

func (p *parser) value(depth int) (node, error) {
	n := node{start: p.at}
	var err error
	switch c := p.peek(); {
	case depth > maxDepth:
		return n, p.bad()
	case c == '{' || c == '[':
		n.kind = c
		err = p.container(&n, depth)
	case c == '"':
		n.kind = c
		err = p.quoted()
	default:
		n.kind = 'v'
		for strings.IndexByte(" \t\r\n,:{}[]\"/\x00", p.peek()) < 0 {
			p.at++
		}
		if p.at == n.start {
			err = p.bad()
		}
	}
	n.end = p.at
	return n, err
}

func (p *parser) quoted() error {
	for p.at++; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case '\\':
			p.at++
		case '"':
			p.at++
			return nil
		case '\n':
			return p.bad()
		}
	}
	return p.bad()
}

func (p *parser) container(n *node, depth int) error {
	closing := byte('}')
	if n.kind == '[' {
		closing = ']'
	}
	for p.at++; ; {
		p.skip()
		if p.peek() == closing {
			p.at++
			return nil
		}
		if err := p.item(n, depth); err != nil {
			return err
		}
		p.skip()
		switch p.peek() {
		case ',':
			p.at++
		case closing:
		default:
			return p.bad()
		}
	}
}

// item parses an array value, or an object's key and value.
func (p *parser) item(n *node, depth int) error {
	if n.kind == '{' {
		key := node{kind: '"', start: p.at}
		if p.peek() != '"' {
			return p.bad()
		}
		if err := p.quoted(); err != nil {
			return err
		}
		key.end = p.at
		if p.skip(); p.peek() != ':' {
			return p.bad()
		}
		p.at++
		p.skip()
		n.keys = append(n.keys, key)
	}
	v, err := p.value(depth + 1)
	n.items = append(n.items, v)
	return err
}

// member returns the index of a key, or -1. The last duplicate counts, as in JSON parsers
// of agents.
func (n node) member(text, name string) int {
	for i := len(n.keys) - 1; i >= 0; i-- {
		if unquote(text, n.keys[i]) == name {
			return i
		}
	}
	return -1
}

// unquote returns a string node's value, or "" for other nodes.
func unquote(text string, n node) string {
	var s string
	if n.kind != '"' || json.Unmarshal([]byte(text[n.start:n.end]), &s) != nil {
		return ""
	}
	return s
}

// from returns the start of item i, including its key.
func (n node) from(i int) int {
	if n.kind == '{' {
		return n.keys[i].start
	}
	return n.items[i].start
}
