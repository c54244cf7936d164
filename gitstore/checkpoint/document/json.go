package document

import (
	"fmt"
	"strconv"
	"strings"
)

// jsonParser parses JSON. encoding/json is unsuitable: it accepts duplicate keys,
// replaces lone surrogates and loses key order.
type jsonParser struct {
	s      string
	at     int
	nodes  int
	limits Limits
	find   *locator
}

// jsonError reports a failure at an offset.
type jsonError struct {
	at  int
	msg string
}

func (e *jsonError) Error() string { return e.msg }

func (p *jsonParser) fail(format string, args ...any) error {
	return &jsonError{p.at, fmt.Sprintf(format, args...)}
}

func DecodeJSON(data []byte, l Limits) (Parsed, error) {
	p := &jsonParser{s: string(data), limits: l}
	v, err := p.document()
	if err != nil {
		return Parsed{}, errorAt(data, p.at, err.Error())
	}
	return Parsed{v.(*Map), func(path []Step) (int, int) { return whereJSON(data, l, path) }}, nil
}

// document parses a mapping followed by the end of text.
func (p *jsonParser) document() (any, error) {
	v, err := p.all()
	if _, ok := v.(*Map); err == nil && !ok {
		p.at = 0
		return nil, p.fail("want a mapping, got %s", KindOf(v))
	}
	return v, err
}

// all parses a value followed by the end of text.
func (p *jsonParser) all() (any, error) {
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if p.space(); p.at < len(p.s) {
		return nil, p.fail("text after the end of the JSON value")
	}
	return v, nil
}

func (p *jsonParser) space() {
	for p.at < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.at]) >= 0 {
		p.at++
	}
}

// next skips whitespace and returns the next byte, 0 at the end.
func (p *jsonParser) next() byte {
	if p.space(); p.at < len(p.s) {
		return p.s[p.at]
	}
	return 0
}

func (p *jsonParser) value(depth int) (any, error) {
	c := p.next()
	if p.nodes++; p.nodes > p.limits.Nodes {
		return nil, p.fail("more than %d keys and values", p.limits.Nodes)
	}
	if depth >= p.limits.Depth && (c == '{' || c == '[') {
		return nil, p.fail("more than %d levels deep", p.limits.Depth)
	}
	switch c {
	case '{':
		return p.object(depth + 1)
	case '[':
		return p.array(depth + 1)
	case '"':
		return p.string()
	}
	return p.literal()
}

func (p *jsonParser) literal() (any, error) {
	end := p.at
	for end < len(p.s) && strings.IndexByte(" \t\r\n,:]}\"", p.s[end]) < 0 {
		end++
	}
	switch s := p.s[p.at:end]; {
	case s == "" && p.at == len(p.s):
		return nil, p.fail("the text ends in the middle of a value")
	case s == "null", s == "true", s == "false":
		p.at = end
		return word(s), nil
	case isNumber(s):
		p.at = end
		return Number(s), nil
	default:
		return nil, p.fail("want a JSON value, got %.20q", p.s[p.at:min(max(end, p.at+1), len(p.s))])
	}
}

func (p *jsonParser) object(depth int) (any, error) {
	m := NewMap()
	p.at++
	if p.next() == '}' {
		p.at++
		return m, nil
	}
	for {
		if err := p.member(m, depth); err != nil {
			return nil, err
		}
		switch p.next() {
		case ',':
			p.at++
		case '}':
			p.at++
			return m, nil
		default:
			return nil, p.fail("want ',' or '}' in a mapping")
		}
	}
}

func (p *jsonParser) member(m *Map, depth int) error {
	if p.next() != '"' {
		return p.fail("want a key in double quotes")
	}
	start := p.at
	key, err := p.string()
	if err != nil {
		return err
	}
	if m.Find(key) >= 0 {
		p.at = start
		return p.fail("key %.60q is there twice", key)
	}
	if p.next() != ':' {
		return p.fail("want ':' after a key")
	}
	p.at++
	p.nodes++
	v, err := p.child(key, depth)
	m.Add(key, v)
	return err
}

// child parses the value under key and notifies the locator.
func (p *jsonParser) child(key string, depth int) (any, error) {
	if p.find == nil {
		return p.value(depth)
	}
	p.space()
	p.find.open(key, p.at)
	defer p.find.close()
	return p.value(depth)
}

func (p *jsonParser) array(depth int) (any, error) {
	l := []any{}
	p.at++
	if p.next() == ']' {
		p.at++
		return l, nil
	}
	for {
		v, err := p.child(strconv.Itoa(len(l)), depth)
		if err != nil {
			return nil, err
		}
		l = append(l, v)
		switch p.next() {
		case ',':
			p.at++
		case ']':
			p.at++
			return l, nil
		default:
			return nil, p.fail("want ',' or ']' in a list")
		}
	}
}

// ParseValue parses a --set value: a JSON literal, list or mapping is converted, other
// text is returned unchanged.
func ParseValue(s string) any {
	p := &jsonParser{s: s, limits: DefaultLimits}
	if v, err := p.all(); err == nil {
		return v
	}
	return s
}
