package document

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// DecodeJSON parses a mapping. It rejects duplicate keys if tell is nil; otherwise the last value
// counts, and tell gets the position of the key.
func DecodeJSON(data []byte, l Limits, tell func(line, column int, msg string)) (Parsed, error) {
	p := &jsonParser{s: string(data), limits: l, tell: tell}
	v, err := p.document()
	if err != nil {
		return Parsed{}, errorAt(data, p.at, err.Error())
	}
	return Parsed{v.(*Map), func(path []Step) (int, int) { return whereJSON(data, l, path) }}, nil
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

// MarshalJSON returns the mapping as JSON. The keys keep their order.
func (m *Map) MarshalJSON() ([]byte, error) { return AppendJSON(nil, m, 0) }

// MarshalJSON returns the number as written.
func (n Number) MarshalJSON() ([]byte, error) { return AppendJSON(nil, n, 0) }

func AppendJSON(b []byte, v any, depth int) (_ []byte, err error) {
	if depth > DefaultLimits.Depth {
		return nil, errDeep
	}
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case Number:
		if !isNumber(string(v)) {
			return nil, fmt.Errorf("%.40q is not a number", string(v))
		}
		return append(b, v...), nil
	case string:
		return appendQuoted(b, v, true), nil
	case *Map:
		b = append(b, '{')
		for k := range v.Len() {
			if k > 0 {
				b = append(b, ',')
			}
			b = append(appendQuoted(b, v.Entries[k].Key, true), ':')
			if b, err = AppendJSON(b, v.Entries[k].Value, depth+1); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	case []any:
		b = append(b, '[')
		for k := range v {
			if k > 0 {
				b = append(b, ',')
			}
			if b, err = AppendJSON(b, v[k], depth+1); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	}
	return nil, fmt.Errorf("a %T cannot be written", v)
}

// jsonParser parses JSON. encoding/json is unsuitable: it accepts duplicate keys,
// replaces lone surrogates and loses key order.
type jsonParser struct {
	s      string
	at     int
	nodes  int
	limits Limits
	find   *locator
	tell   func(line, column int, msg string) // nil to reject duplicate keys
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

// next skips whitespace and returns the next byte, 0 at the end.
func (p *jsonParser) next() byte {
	if p.space(); p.at < len(p.s) {
		return p.s[p.at]
	}
	return 0
}

func (p *jsonParser) space() {
	for p.at < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.at]) >= 0 {
		p.at++
	}
}

func (p *jsonParser) fail(format string, args ...any) error {
	return &jsonError{p.at, fmt.Sprintf(format, args...)}
}

// jsonError reports a failure at an offset.
type jsonError struct {
	at  int
	msg string
}

func (e *jsonError) Error() string { return e.msg }

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
	again := m.Find(key) >= 0
	if again && p.tell == nil {
		p.at = start
		return p.fail("key %.60q is a duplicate", key)
	}
	if again {
		line, column := position([]byte(p.s), start)
		p.tell(line, column, fmt.Sprintf("key %.60q is a duplicate: the last one counts", key))
	}
	if p.next() != ':' {
		return p.fail("want ':' after a key")
	}
	p.at++
	p.nodes++
	v, err := p.child(key, depth)
	if again {
		m.Set(key, v)
	} else {
		m.Add(key, v)
	}
	return err
}

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
