package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

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

// A node is a value with its position in JSON text. Comments and trailing commas are
// allowed, as in editors.
type node struct {
	kind       byte // {, [ or "; v for other values
	start, end int
	items      []node // values of an object or array
	keys       []node // keys of an object
}

// addItem appends an item to an object or array and preserves all other bytes. A
// container with items determines the new item's layout. In an empty container, the item
// is written on the same line between spaces. These spaces show that the container
// existed before: install writes its own containers without them.
func addItem(text string, in node, key string, value any) string {
	if len(in.items) == 0 {
		return text[:in.start+1] + " " + compact(key, value) + " " + text[in.start+1:]
	}
	last := len(in.items) - 1
	end := in.items[last].end
	lineEnd, indent, broken := layout(text, in.from(last))
	item, gap, past := compact(key, value), " ", func(at int) int { return at }
	if broken {
		item, gap = pretty(key, value, indent, step(text), lineEnd), lineEnd+indent
		past = func(at int) int { return restOfLine(text, at) }
	}
	if comma := commaAfter(text, end); comma >= 0 {
		at := past(comma + 1)
		return text[:at] + gap + item + "," + text[at:]
	}
	at := past(end)
	return text[:end] + "," + text[end:at] + gap + item + text[at:]
}

// compact returns a value on one line, with its key unless that is "".
func compact(key string, value any) string { return pretty(key, value, "", "", "") }

// layout reports whether a position is the first on its line, and returns its indentation
// and the line end.
func layout(text string, at int) (lineEnd, indent string, broken bool) {
	start := strings.LastIndexByte(text[:at], '\n') + 1
	indent = text[start:at]
	if start == 0 || strings.Trim(indent, " \t") != "" {
		return "", "", false
	}
	if start > 1 && text[start-2] == '\r' {
		return "\r\n", indent, true
	}
	return "\n", indent, true
}

// from returns the start of item i, including its key.
func (n node) from(i int) int {
	if n.kind == '{' {
		return n.keys[i].start
	}
	return n.items[i].start
}

func pretty(key string, value any, indent, step, lineEnd string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(indent, step)
	_ = e.Encode(value) // strings, numbers, maps and lists
	text := strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", lineEnd)
	if key != "" {
		text = `"` + key + `": ` + text
	}
	return text
}

// step returns one indentation level, taken from the root's first item.
func step(text string) string {
	root, err := parseJSON(text)
	if err == nil && len(root.items) > 0 {
		if _, indent, broken := layout(text, root.from(0)); broken && indent != "" {
			return indent
		}
	}
	return "  "
}

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

const maxDepth = 200

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

func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

var (
	errJSON     = errors.New("not a JSON object with comments")
	errNoObject = errors.New("not an object")
	errNoArray  = errors.New("not an array")
)

func (p *parser) bad() error { return syntaxError(errJSON, p.text, p.at) }

// syntaxError adds line and column of an offset to err.
func syntaxError(err error, text string, at int) error {
	before := text[:min(at, len(text))]
	line := 1 + strings.Count(before, "\n")
	column := 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	return fmt.Errorf("%w: line %d, column %d", err, line, column)
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

// restOfLine returns the offset after comments on the same line, because they belong to
// the preceding text.
func restOfLine(text string, at int) int {
	end := at + upTo(text[at:], "\n")
	if end > at && text[end-1] == '\r' {
		end--
	}
	p := &parser{text: text[:end], at: at}
	if p.skip(); p.at == end && strings.TrimSpace(text[at:end]) != "" {
		return end
	}
	return at
}

// commaAfter returns the offset of the comma after an item, or -1.
func commaAfter(text string, end int) int {
	p := &parser{text: text, at: end}
	if p.skip(); p.peek() == ',' {
		return p.at
	}
	return -1
}

// removeItem removes item i from a container, with its comma and white space. Adjacent
// comments remain.
func removeItem(text string, in node, i int) string {
	from, end := in.from(i), in.items[i].end
	comma := commaAfter(text, end)
	switch {
	case len(in.items) == 1:
		return removeOnly(text, in)
	case i < len(in.items)-1:
		return removeBefore(text, from, end, comma)
	}
	gap := strings.TrimRight(text[:from], " \t")
	if strings.HasSuffix(gap, "\n") {
		gap = strings.TrimSuffix(strings.TrimSuffix(gap, "\n"), "\r")
	}
	if comma >= 0 { // the file's style has trailing commas
		return gap + text[end:comma] + text[comma+1:]
	}
	if before := commaAfter(text, in.items[i-1].end); before >= 0 && before < len(gap) {
		gap = gap[:before] + gap[before+1:]
	}
	return gap + text[end:]
}

// removeOnly removes the only item of a container, and keeps comments inside.
func removeOnly(text string, in node) string {
	from, end := in.from(0), in.items[0].end
	before, after := text[:from], text[end:]
	if comma := commaAfter(text, end); comma >= 0 {
		after = text[end:comma] + text[comma+1:]
	}
	if spaced(text, in) {
		return before[:from-1] + after[1:]
	}
	closing := len(text) - in.end + 1 // distance from the closing bracket to the end of text
	inner := before[in.start+1:] + after[:len(after)-closing]
	if strings.TrimSpace(inner) == "" {
		inner = ""
	}
	return before[:in.start+1] + inner + after[len(after)-closing:]
}

// removeBefore removes an item before other items, with its line if it is alone there.
func removeBefore(text string, from, end, comma int) string {
	rest := text[end:comma] + text[comma+1:]
	line := strings.TrimLeft(text[comma+1:], " \t")
	_, _, broken := layout(text, from)
	switch {
	case broken && end == comma && strings.HasPrefix(line, "\n"):
		return strings.TrimRight(text[:from], " \t") + line[1:]
	case broken && end == comma && strings.HasPrefix(line, "\r\n"):
		return strings.TrimRight(text[:from], " \t") + line[2:]
	case !broken && end == comma:
		return text[:from] + line
	}
	return text[:from] + rest
}
