package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"
)

// Write writes a record, one of this package's structs, as one line in a single write. It
// writes nothing if encoding fails.
func Write(w io.Writer, v any) error {
	line, err := encode(v)
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err = w.Write(line)
	return err
}

// Error is the record of a failed command. Hint is a suggested command or empty. Details are
// further texts about the error.
type Error struct {
	Type    string `json:"type"`
	Code    int    `json:"code"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Hint    string `json:"hint"`

	Details []string `json:"details"`
}

// NewError returns the record of a failed command.
func NewError(code int, kind, message, hint string, details ...string) Error {
	return Error{Type: "error", Code: code, Kind: kind, Message: message, Hint: hint, Details: details}
}

// head is the prefix of each record.
const head = `{"version":1,`

func encode(v any) ([]byte, error) {
	r := reflect.Indirect(reflect.ValueOf(v))
	if r.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%T is no record", v)
	}
	if t := r.FieldByName("Type"); !t.IsValid() || t.Kind() != reflect.String || t.String() == "" {
		return nil, errors.New("a record has no type")
	}
	e := encoder{plans: map[reflect.Type][]field{}}
	if err := e.object(head, r); err != nil {
		return nil, err
	}
	return append(jsonBreak(escapeUnprintable(e.buf)), '\n'), nil
}

// encoder encodes this package's structs as JSON. encoding/json cannot encode a nil list
// as [] and an empty name as null; the encoder delegates other values to encoding/json.
type encoder struct {
	buf   []byte
	plans map[reflect.Type][]field
}

// field describes the encoding of a struct field.
type field struct {
	index []int
	name  string // quoted, with colon
	null  bool   // "" is encoded as null
	form  form
}

// form is the encoding of a type's values.
type form int

// object encodes a struct after the prefix begin, which contains the opening brace.
func (e *encoder) object(begin string, v reflect.Value) error {
	e.buf = append(e.buf, begin...)
	for i, f := range e.plan(v.Type()) {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		e.buf = append(e.buf, f.name...)
		value := v.FieldByIndex(f.index)
		if f.null && value.Len() == 0 {
			e.buf = append(e.buf, "null"...)
			continue
		}
		if err := e.value(f.form, value); err != nil {
			return err
		}
	}
	e.buf = append(e.buf, '}')
	return nil
}

// plan returns the fields of a struct type, with fields of embedded structs at their
// position.
func (e *encoder) plan(t reflect.Type) []field {
	if p, ok := e.plans[t]; ok {
		return p
	}
	var p []field
	for _, f := range reflect.VisibleFields(t) {
		name := f.Tag.Get("json")
		if f.Anonymous || name == "" {
			continue
		}
		p = append(p, field{f.Index, strconv.Quote(name) + ":", f.Tag.Get("empty") == "null", formOf(f.Type)})
	}
	e.plans[t] = p
	return p
}

var (
	timeType      = reflect.TypeFor[time.Time]()
	marshalerType = reflect.TypeFor[json.Marshaler]()
)

func formOf(t reflect.Type) form {
	switch {
	case t == timeType:
		return asTime
	case t.Implements(marshalerType):
		return asOther
	}
	switch t.Kind() {
	case reflect.String:
		return asString
	case reflect.Bool:
		return asBool
	case reflect.Int, reflect.Int64:
		return asInt
	case reflect.Struct:
		return asObject
	case reflect.Slice:
		return asList
	case reflect.Interface:
		return asAny
	}
	return asOther
}

const (
	asOther form = iota // encoded by encoding/json
	asString
	asBool
	asInt
	asTime
	asObject
	asList
	asAny // depends on the interface's dynamic type
)

func (e *encoder) value(f form, v reflect.Value) error {
	switch f {
	case asString:
		e.buf = appendQuoted(e.buf, v.String())
	case asBool:
		e.buf = strconv.AppendBool(e.buf, v.Bool())
	case asInt:
		e.buf = strconv.AppendInt(e.buf, v.Int(), 10)
	case asTime:
		e.time(v.Interface().(time.Time))
	case asObject:
		return e.object("{", v)
	case asList:
		return e.list(v)
	case asAny:
		if v.IsNil() {
			e.buf = append(e.buf, "null"...)
			return nil
		}
		return e.value(formOf(v.Elem().Type()), v.Elem())
	default:
		return e.other(v.Interface())
	}
	return nil
}

// appendQuoted appends s as a JSON string; invalid UTF-8 bytes become U+FFFD.
func appendQuoted(buf []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = string([]rune(s)) // one U+FFFD per byte
	}
	buf = append(buf, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		buf = append(buf, s[start:i]...)
		buf = appendEscape(buf, c)
		start = i + 1
	}
	return append(append(buf, s[start:]...), '"')
}

const hexDigits = "0123456789abcdef"

func appendEscape(buf []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(buf, '\\', c)
	case '\n':
		return append(buf, `\n`...)
	case '\r':
		return append(buf, `\r`...)
	case '\t':
		return append(buf, `\t`...)
	}
	return append(buf, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// time encodes a time, or null for zero time and years outside RFC 3339.
func (e *encoder) time(t time.Time) {
	t = t.UTC()
	if t.IsZero() || t.Year() < 0 || t.Year() > 9999 {
		e.buf = append(e.buf, "null"...)
		return
	}
	e.buf = append(e.buf, '"')
	e.buf = t.AppendFormat(e.buf, "2006-01-02T15:04:05.000000Z")
	e.buf = append(e.buf, '"')
}

func (e *encoder) list(v reflect.Value) error {
	f := formOf(v.Type().Elem())
	e.buf = append(e.buf, '[')
	for i := range v.Len() {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		if err := e.value(f, v.Index(i)); err != nil {
			return err
		}
	}
	e.buf = append(e.buf, ']')
	return nil
}

// other encodes a value with encoding/json.
func (e *encoder) other(x any) error {
	var b bytes.Buffer
	j := json.NewEncoder(&b)
	j.SetEscapeHTML(false)
	if err := j.Encode(x); err != nil {
		return err
	}
	e.buf = append(e.buf, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
	return nil
}

// escapeUnprintable escapes characters that are unsafe for terminals. In JSON they occur
// only in strings, and the escapes preserve the value.
func escapeUnprintable(b []byte) []byte {
	at := firstUnprintable(b)
	if at == len(b) {
		return b
	}
	out := append(make([]byte, 0, len(b)+64), b[:at]...)
	for len(b) > at {
		r, size := utf8.DecodeRune(b[at:])
		if harmless(r) && (r != utf8.RuneError || size > 1) {
			out = append(out, b[at:at+size]...)
		} else {
			out = appendUTF16(out, r)
		}
		at += size
	}
	return out
}

// firstUnprintable returns the index of the first unsafe character, or len(b).
func firstUnprintable(b []byte) int {
	for i := 0; i < len(b); {
		if c := b[i]; c >= ' ' && c < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		if !harmless(r) || r == utf8.RuneError {
			return i
		}
		i += size
	}
	return len(b)
}

// appendUTF16 appends r as one or two \u escapes.
func appendUTF16(buf []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		return fmt.Appendf(buf, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
	}
	return fmt.Appendf(buf, `\u%04x`, r)
}
