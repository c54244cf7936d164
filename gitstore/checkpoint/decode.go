package checkpoint

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// document is a document that was read, and how to find a place in its text.
type document struct {
	root  *Map
	where func(path []step) (line, column int)
}

// DecodeDocument reads one mapping in YAML or JSON within limits. It refuses
// a second document, keys that are there twice, merge keys, NUL, tags other
// than the basic ones, and text that is not UTF-8; every error is a
// *SyntaxError.
//
// Scalars follow the JSON schema of YAML: null, true, false and JSON's numbers
// are what they say, everything else without quotes is text.
func DecodeDocument(data []byte, l Limits) (*Map, error) {
	d, err := decode(data, l.orDefault())
	return d.root, err
}

// DecodeTolerant reads a document of somebody else's as DecodeDocument does,
// but for what their readers let pass, in YAML: of a key that is there twice the
// last one counts, and of several documents the first mapping. It tells of each
// with its place.
func DecodeTolerant(data []byte, l Limits, tell func(line, column int, msg string)) (*Map, error) {
	d, err := decodeWith(data, l.orDefault(), tell)
	return d.root, err
}

func decode(data []byte, l Limits) (document, error) { return decodeWith(data, l, nil) }

// decodeWith is strict where there is nobody to tell.
func decodeWith(data []byte, l Limits, tell func(line, column int, msg string)) (document, error) {
	if len(data) > l.Bytes {
		return document{}, syntaxError(1, 1, fmt.Sprintf("%d bytes, the limit is %d", len(data), l.Bytes))
	}
	if m, ok := parseCanonical(data, l); ok {
		return document{m, func(path []step) (int, int) { return whereCanonical(data, l, path) }}, nil
	}
	if at, msg := badBytes(data); at >= 0 {
		return document{}, errorAt(data, at, msg)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if body := bytes.TrimLeft(data, " \t\r\n"); len(body) == 0 {
		return document{}, syntaxError(1, 1, "empty, want a mapping")
	} else if looksLikeJSON(body) {
		return decodeJSON(data, l)
	}
	return decodeYAML(data, l, tell)
}

// looksLikeJSON tells {"a": 1} from {a: 1}, which is YAML. What is meant as
// JSON is read as nothing else: to YAML, a text that a shell cut off after
// "a": is whole.
func looksLikeJSON(body []byte) bool {
	if body[0] != '{' {
		return false
	}
	body = bytes.TrimLeft(body[1:], " \t\r\n")
	return len(body) > 0 && (body[0] == '"' || body[0] == '}')
}

// syntaxError returns the error as the interface type, so that a nil of it
// stays nil.
func syntaxError(line, column int, msg string) error {
	return &SyntaxError{Line: line, Column: column, Msg: msg}
}

func errorAt(data []byte, at int, msg string) error {
	line, column := position(data, at)
	return syntaxError(line, column, msg)
}

// position turns a byte offset into line and column.
func position(data []byte, at int) (line, column int) {
	before := data[:min(at, len(data))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// badBytes finds the first byte that no document may hold.
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
