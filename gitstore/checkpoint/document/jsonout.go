package document

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// MarshalJSON returns the mapping as JSON. The keys keep their order.
func (m *Map) MarshalJSON() ([]byte, error) { return AppendJSON(nil, m, 0) }

// MarshalJSON returns the number as written.
func (n Number) MarshalJSON() ([]byte, error) { return AppendJSON(nil, n, 0) }

func AppendJSON(b []byte, v any, depth int) ([]byte, error) {
	if depth > DefaultLimits.Depth {
		return nil, errDeep
	}
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return append(b, boolText(v)...), nil
	case Number:
		if !isNumber(string(v)) {
			return nil, fmt.Errorf("%.40q is not a number", string(v))
		}
		return append(b, v...), nil
	case string:
		return appendJSONText(b, v), nil
	case *Map:
		return appendObject(b, v, depth)
	case []any:
		return appendArray(b, v, depth)
	}
	return nil, fmt.Errorf("a %T cannot be written", v)
}

func appendObject(b []byte, m *Map, depth int) (_ []byte, err error) {
	b = append(b, '{')
	for k := range m.Len() {
		if k > 0 {
			b = append(b, ',')
		}
		b = append(appendJSONText(b, m.Entries[k].Key), ':')
		if b, err = AppendJSON(b, m.Entries[k].Value, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendArray(b []byte, l []any, depth int) (_ []byte, err error) {
	b = append(b, '[')
	for k := range l {
		if k > 0 {
			b = append(b, ',')
		}
		if b, err = AppendJSON(b, l[k], depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

// appendJSONText escapes unprintable characters like Encode.
func appendJSONText(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			b = appendByte(b, byte(r))
		case printable(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = appendEscape(appendEscape(b, high), low)
		default:
			b = appendEscape(b, r)
		}
	}
	return append(b, '"')
}
