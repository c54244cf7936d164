package document

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Parsed is a parsed document with a function that returns the position of a path.
type Parsed struct {
	Root  *Map
	Where func(path []Step) (line, column int)
}

// DecodeDocument parses a single mapping in YAML or JSON within limits. It rejects a
// second document, duplicate keys, merge keys, NUL, tags other than the basic tags, and
// invalid UTF-8. Every error is a *SyntaxError.
//
// Null and booleans follow the core schema of YAML, numbers follow JSON. Any other
// unquoted scalar is text.
func DecodeDocument(data []byte, l Limits) (*Map, error) {
	d, err := Decode(data, l.OrDefault())
	return d.Root, err
}

// DecodeTolerant parses a foreign document like DecodeDocument, but accepts two
// irregularities in YAML. For a duplicate key the last value counts. Of several
// documents, the first mapping counts. DecodeTolerant calls tell with the position of
// each irregularity.
func DecodeTolerant(data []byte, l Limits, tell func(line, column int, msg string)) (*Map, error) {
	d, err := decodeWith(data, l.OrDefault(), tell)
	return d.Root, err
}

func Decode(data []byte, l Limits) (Parsed, error) { return decodeWith(data, l, nil) }

// decodeWith rejects irregularities if tell is nil.
func decodeWith(data []byte, l Limits, tell func(line, column int, msg string)) (Parsed, error) {
	if len(data) > l.Bytes {
		return Parsed{}, syntaxError(1, 1, fmt.Sprintf("%d bytes, the limit is %d", len(data), l.Bytes))
	}
	if m, ok := ParseCanonical(data, l); ok {
		return Parsed{m, func(path []Step) (int, int) { return whereCanonical(data, l, path) }}, nil
	}
	if at, msg := badBytes(data); at >= 0 {
		return Parsed{}, errorAt(data, at, msg)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if body := bytes.TrimLeft(data, " \t\r\n"); len(body) == 0 {
		return Parsed{}, syntaxError(1, 1, "empty, want a mapping")
	} else if looksLikeJSON(body) {
		return DecodeJSON(data, l)
	}
	return DecodeYAML(data, l, tell)
}

// looksLikeJSON distinguishes JSON {"a": 1} from YAML {a: 1}. JSON is never parsed as
// YAML, because a truncated JSON text can be valid YAML.
func looksLikeJSON(body []byte) bool {
	if body[0] != '{' {
		return false
	}
	body = bytes.TrimLeft(body[1:], " \t\r\n")
	return len(body) > 0 && (body[0] == '"' || body[0] == '}')
}

// syntaxError returns an error interface, so that a nil error stays nil.
func syntaxError(line, column int, msg string) error {
	return &SyntaxError{Line: line, Column: column, Msg: msg}
}

func errorAt(data []byte, at int, msg string) error {
	line, column := position(data, at)
	return syntaxError(line, column, msg)
}

// position returns the line and column of a byte offset.
func position(data []byte, at int) (line, column int) {
	before := data[:min(at, len(data))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// badBytes returns the offset of the first invalid byte, -1 if all bytes are valid.
func badBytes(data []byte) (at int, msg string) {
	if at := bytes.IndexByte(data, 0); at >= 0 {
		return at, "NUL byte, want text in UTF-8"
	}
	if utf8.Valid(data) {
		return -1, ""
	}
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at, fmt.Sprintf("byte 0x%02x at offset %d is not valid UTF-8", data[at], at)
}
