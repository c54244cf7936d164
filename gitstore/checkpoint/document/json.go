package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// DecodeJSON parses a mapping. It rejects duplicate keys if tell is nil; otherwise the last value
// counts, and tell gets the position of the key.
func DecodeJSON(data []byte, l Limits, tell func(line, column int, msg string)) (Parsed, error) {
	v, err := newJSONReader(data, l, tell).all(nil)
	if err != nil {
		return Parsed{}, err
	}
	m, ok := v.(*Map)
	if !ok {
		return Parsed{}, syntaxError(1, 1, "want a mapping, got "+KindOf(v))
	}
	return Parsed{m, func(path []Step) (int, int) {
		r := newJSONReader(data, l, tell)
		_, _ = r.all(path)
		return position(data, r.found)
	}}, nil
}

// ParseValue parses a --set value: a JSON literal, list or mapping is converted, other
// text is returned unchanged.
func ParseValue(s string) any {
	if v, err := newJSONReader([]byte(s), DefaultLimits, nil).all(nil); err == nil && utf8.ValidString(s) {
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

// jsonReader builds document values from the tokens of encoding/json. It rejects duplicate keys
// and half surrogate pairs, which encoding/json accepts, and keeps the order of keys.
type jsonReader struct {
	data   []byte
	dec    *json.Decoder
	nodes  int
	limits Limits
	tell   func(line, column int, msg string) // nil to reject duplicate keys
	found  int                                // offset of the value at the path of all
}

func newJSONReader(data []byte, l Limits, tell func(line, column int, msg string)) *jsonReader {
	r := &jsonReader{data: data, dec: json.NewDecoder(bytes.NewReader(data)), limits: l, tell: tell}
	r.dec.UseNumber()
	return r
}

// all reads a value followed by the end of text, and finds the value at a path.
func (r *jsonReader) all(path []Step) (any, error) {
	v, err := r.value(0, path)
	if err != nil {
		return nil, err
	}
	if at := r.next(); at < len(r.data) {
		return nil, errorAt(r.data, at, "text after the end of the JSON value")
	}
	return v, nil
}

// next returns the offset of the next token.
func (r *jsonReader) next() int {
	at := int(r.dec.InputOffset())
	for at < len(r.data) && strings.IndexByte(" \t\r\n,:", r.data[at]) >= 0 {
		at++
	}
	return at
}

// Escapes of surrogates: a pair, and a half after all pairs are removed.
var (
	surrogatePair = Pattern(`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)
	surrogate     = Pattern(`\\u[dD][89a-fA-F]`)
)

// token returns the next token and its offset.
func (r *jsonReader) token() (json.Token, int, error) {
	at := r.next()
	tok, err := r.dec.Token()
	text, _ := tok.(string)
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, at, errorAt(r.data, len(r.data), "the text ends in the middle of a value")
	case err != nil && errors.As(json.Unmarshal(r.data, new(json.RawMessage)), &syntax): // knows the exact offset
		return nil, at, errorAt(r.data, int(syntax.Offset)-1, syntax.Error())
	case err != nil:
		return nil, at, errorAt(r.data, at, err.Error())
	case strings.Contains(text, "\x00"):
		return nil, at, errorAt(r.data, at, "NUL in a text")
	case strings.ContainsRune(text, utf8.RuneError):
		escapes := strings.ReplaceAll(string(r.data[at:r.dec.InputOffset()]), `\\`, "")
		if surrogate().MatchString(surrogatePair().ReplaceAllString(escapes, "")) {
			return nil, at, errorAt(r.data, at, "half a surrogate pair in a text")
		}
	}
	return tok, at, nil
}

// value reads a value. It notes the offset of the value at the path below it, and of the values
// on the way there. A nil path is that of no value.
func (r *jsonReader) value(depth int, path []Step) (any, error) {
	tok, at, err := r.token()
	if path != nil {
		r.found = at
	}
	if r.nodes++; err == nil && r.nodes > r.limits.Nodes {
		err = errorAt(r.data, at, fmt.Sprintf("more than %d keys and values", r.limits.Nodes))
	}
	open, isOpen := tok.(json.Delim)
	switch {
	case err != nil:
		return nil, err
	case isOpen && depth >= r.limits.Depth:
		return nil, errorAt(r.data, at, fmt.Sprintf("more than %d levels deep", r.limits.Depth))
	case open == '[':
		return r.list(depth+1, path)
	case open == '{':
		return r.object(depth+1, path)
	}
	if n, ok := tok.(json.Number); ok {
		return Number(n), nil
	}
	return tok, nil
}

// below returns the rest of a path below a key, nil if the path does not lead there.
func below(path []Step, key string) []Step {
	if len(path) == 0 || path[0].Key != key {
		return nil
	}
	return path[1:]
}

func (r *jsonReader) list(depth int, path []Step) (any, error) {
	l := []any{}
	for r.dec.More() {
		v, err := r.value(depth, below(path, strconv.Itoa(len(l))))
		if err != nil {
			return nil, err
		}
		l = append(l, v)
	}
	_, _, err := r.token()
	return l, err
}

func (r *jsonReader) object(depth int, path []Step) (any, error) {
	m := NewMap()
	for r.dec.More() {
		tok, at, err := r.token()
		if err != nil {
			return nil, err
		}
		key, _ := tok.(string)
		again := m.Find(key) >= 0
		if again && r.tell == nil {
			return nil, errorAt(r.data, at, fmt.Sprintf("key %.60q is a duplicate", key))
		}
		if again {
			line, column := position(r.data, at)
			r.tell(line, column, fmt.Sprintf("key %.60q is a duplicate: the last one counts", key))
		}
		r.nodes++
		v, err := r.value(depth, below(path, key))
		if err != nil {
			return nil, err
		}
		if again {
			m.Set(key, v)
		} else {
			m.Add(key, v)
		}
	}
	_, _, err := r.token()
	return m, err
}
