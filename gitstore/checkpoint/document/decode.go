// Package document reads and writes ordered documents: mappings with text keys in YAML and
// JSON. It finds values by paths, and the line and column of a value.
//
// # Canonical text
//
//	document = "{}" NL | mapping
//	mapping  = { indent key ":" ( " " scalar | NL mapping | NL list ) }
//	list     = { indent "- " ( scalar | list | mapping ) }
//	scalar   = "null" | "true" | "false" | number | plain | quoted | block NL
//	         | "{}" | "[]"
//	block    = "|" [ "2" ] [ "-" | "+" ] NL { indent line NL }
//
// Each level, including lists, is indented by two columns. A list or mapping inside a
// list starts on the line of its dash. Numbers have JSON syntax. Text is plain if no YAML
// parser can read it as another type. Text with several lines of printable characters is
// a literal block. All other text is double-quoted with the escapes of JSON and \U. A key
// of more than a thousand bytes follows "? " on its own line.
//
// Emit writes only this form. Decode also parses other YAML with yaml.v3, and JSON with
// its own parser. Every rejection includes line and column.
package document

import (
	"bytes"
	"cmp"
	"fmt"
	"unicode/utf8"

	"git-checkpoint/gitstore/failure"
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
	d, err := Decode(data, l, nil)
	return d.Root, err
}

// DecodeTolerant parses a foreign document like DecodeDocument, but accepts two
// irregularities. For a duplicate key the last value counts. Of several documents of YAML, the
// first mapping counts. DecodeTolerant calls tell with the position of
// each irregularity.
func DecodeTolerant(data []byte, l Limits, tell func(line, column int, msg string)) (*Map, error) {
	d, err := Decode(data, l, tell)
	return d.Root, err
}

// Limits apply before and during parsing. A zero field means the value in DefaultLimits.
type Limits struct {
	Bytes   int // bytes of text
	Depth   int // nesting of mappings and lists
	Aliases int // uses of YAML anchors
	Nodes   int // keys and values, including repetitions by aliases
}

// DefaultLimits are far above the size of a checkpoint, because large state belongs in
// artifacts.
var DefaultLimits = Limits{Bytes: 32 << 20, Depth: 64, Aliases: 100, Nodes: 2_000_000}

func (l Limits) OrDefault() Limits {
	return Limits{
		Bytes: cmp.Or(l.Bytes, DefaultLimits.Bytes), Depth: cmp.Or(l.Depth, DefaultLimits.Depth),
		Aliases: cmp.Or(l.Aliases, DefaultLimits.Aliases), Nodes: cmp.Or(l.Nodes, DefaultLimits.Nodes),
	}
}

// SyntaxError reports an error in a document. Line and Column start at 1, and columns
// count characters. Both are 0 for a record without text. Path is the path of the key, if
// known.
type SyntaxError struct {
	Line, Column int
	Path, Msg    string
}

func (e *SyntaxError) Error() string {
	text := e.Msg
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	if e.Line > 0 {
		text = fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, text)
	}
	return text
}

func (e *SyntaxError) Exit() (code int, hint string) { return failure.Usage, "" }

// Decode parses a document. It rejects irregularities if tell is nil.
func Decode(data []byte, l Limits, tell func(line, column int, msg string)) (Parsed, error) {
	l = l.OrDefault()
	if len(data) > l.Bytes {
		return Parsed{}, syntaxError(1, 1, fmt.Sprintf("%d bytes, the limit is %d", len(data), l.Bytes))
	}
	if m, line := ParseCanonical(data, l); line == 0 {
		return Parsed{m, func(path []Step) (int, int) {
			if d, err := DecodeYAML(data, l, nil); err == nil {
				return d.Where(path)
			}
			return 1, 1 // larger than yaml.v3 may parse
		}}, nil
	}
	if at, msg := badBytes(data); at >= 0 {
		return Parsed{}, errorAt(data, at, msg)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if body := bytes.TrimLeft(data, " \t\r\n"); len(body) == 0 {
		return Parsed{}, syntaxError(1, 1, "empty, want a mapping")
	} else if looksLikeJSON(body) {
		return DecodeJSON(data, l, tell)
	}
	return DecodeYAML(data, l, tell)
}

// syntaxError returns an error interface, so that a nil error stays nil.
func syntaxError(line, column int, msg string) error {
	return &SyntaxError{Line: line, Column: column, Msg: msg}
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

// looksLikeJSON distinguishes JSON {"a": 1} from YAML {a: 1}. JSON is never parsed as
// YAML, because a truncated JSON text can be valid YAML.
func looksLikeJSON(body []byte) bool {
	if body[0] != '{' {
		return false
	}
	body = bytes.TrimLeft(body[1:], " \t\r\n")
	return len(body) > 0 && (body[0] == '"' || body[0] == '}')
}
