package view

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"git-checkpoint/gitstore/checkpoint"
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
	e := encoder{fields: map[reflect.Type][]field{}}
	e.json = json.NewEncoder(&e.buf)
	e.json.SetEscapeHTML(false)
	if err := e.object(head, r); err != nil {
		return nil, err
	}
	line := lineStart{colons: -1}
	text := line.breakCommands(string(escapeUnprintable(e.buf.Bytes())), func(last byte) string { return string(appendUTF16(nil, rune(last))) })
	return []byte(text + "\n"), nil
}

// encoder encodes this package's structs as JSON. encoding/json cannot encode a nil list
// as [] and an empty name as null; the encoder delegates other values to encoding/json.
type encoder struct {
	buf    bytes.Buffer
	json   *json.Encoder // writes to buf
	fields map[reflect.Type][]field
}

// A field is a field of a struct with its JSON name: that of the tag json, or in a part of a stored
// record that of the tag record.
type field struct {
	reflect.StructField
	name   string
	isPath bool
}

func fieldsOf(t reflect.Type) (fields []field) {
	for _, f := range reflect.VisibleFields(t) {
		stored := strings.Split(f.Tag.Get("record"), ",")
		if name := cmp.Or(f.Tag.Get("json"), stored[0]); name != "" && !f.Anonymous {
			fields = append(fields, field{f, name, slices.Contains(stored[1:], "path")})
		}
	}
	return fields
}

// object encodes a struct after the prefix begin, which contains the opening brace. The fields
// of embedded structs have their position.
func (e *encoder) object(begin string, v reflect.Value) error {
	fields, known := e.fields[v.Type()]
	if !known {
		fields = fieldsOf(v.Type())
		e.fields[v.Type()] = fields
	}
	e.buf.WriteString(begin)
	for i, f := range fields {
		if i > 0 {
			e.buf.WriteByte(',')
		}
		e.buf.WriteString(`"` + f.name + `":`)
		value := v.FieldByIndex(f.Index)
		if f.isPath {
			value = reflect.ValueOf(checkpoint.QuotePath(value.String()))
		}
		if f.Tag.Get("empty") == "null" && value.Len() == 0 {
			e.buf.WriteString("null")
		} else if err := e.value(value); err != nil {
			return err
		}
	}
	e.buf.WriteByte('}')
	return nil
}

var marshalerType = reflect.TypeFor[json.Marshaler]()

func (e *encoder) value(v reflect.Value) error {
	switch kind := v.Kind(); {
	case v.Type() == reflect.TypeFor[time.Time]():
		e.time(v.Interface().(time.Time))
		return nil
	case kind == reflect.Interface && !v.IsNil():
		return e.value(v.Elem())
	case v.Type().Implements(marshalerType):
	case kind == reflect.Struct:
		return e.object("{", v)
	case kind == reflect.Pointer && !v.IsNil():
		return e.value(v.Elem())
	case kind == reflect.Slice:
		return e.list(v)
	case kind == reflect.String && !utf8.ValidString(v.String()):
		v = reflect.ValueOf(string([]rune(v.String()))) // one U+FFFD per byte
	}
	if err := e.json.Encode(v.Interface()); err != nil {
		return err
	}
	e.buf.Truncate(e.buf.Len() - len("\n"))
	return nil
}

// time encodes a time, or null for zero time and years outside RFC 3339.
func (e *encoder) time(t time.Time) {
	t = t.UTC()
	if t.IsZero() || t.Year() < 0 || t.Year() > 9999 {
		e.buf.WriteString("null")
		return
	}
	e.buf.WriteString(t.Format(`"2006-01-02T15:04:05.000000Z"`))
}

func (e *encoder) list(v reflect.Value) error {
	e.buf.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			e.buf.WriteByte(',')
		}
		if err := e.value(v.Index(i)); err != nil {
			return err
		}
	}
	e.buf.WriteByte(']')
	return nil
}

// escapeUnprintable escapes characters that are unsafe for terminals. In JSON they occur
// only in strings, and the escapes preserve the value.
func escapeUnprintable(b []byte) []byte {
	at := bytes.IndexFunc(b, func(r rune) bool { return r == utf8.RuneError || !harmless(r) })
	if at < 0 {
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

// appendUTF16 appends r as one or two \u escapes.
func appendUTF16(buf []byte, r rune) []byte {
	for _, unit := range utf16.AppendRune(nil, r) {
		buf = fmt.Appendf(buf, `\u%04x`, unit)
	}
	return buf
}
