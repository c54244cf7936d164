package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A node is a value of a JSON text and where it stands. Comments and commas
// after the last item are allowed, as editors write them.
type node struct {
	kind       byte // { [ " or v for all else
	start, end int
	items      []node // the values of an object or array
	keys       []node // of an object
}

var errJSON = errors.New("not a JSON object with comments")

// parseJSON reads a whole text.
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

// syntaxError adds the line and column of a place in a text to an error.
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

// skip passes over white space and comments.
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

// upTo is how far it is to a text, or to the end.
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

// item reads a value of an array, or a key and a value of an object.
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

// member is the index of a key, -1 for none; the last one of a name counts, as
// for those who read the file.
func (n node) member(text, name string) int {
	for i := len(n.keys) - 1; i >= 0; i-- {
		if unquote(text, n.keys[i]) == name {
			return i
		}
	}
	return -1
}

// unquote returns the value of a string, "" for any other node.
func unquote(text string, n node) string {
	var s string
	if n.kind != '"' || json.Unmarshal([]byte(text[n.start:n.end]), &s) != nil {
		return ""
	}
	return s
}

// from is where item i begins, with its key.
func (n node) from(i int) int {
	if n.kind == '{' {
		return n.keys[i].start
	}
	return n.items[i].start
}
