// Package schema validates JSON documents against a JSON Schema, for example a phase's
// outcome with the fields required by the next phase. Keywords are the subset in the table
// keywords. Other keywords are errors, because their constraints would remain unchecked.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Schema is a parsed JSON Schema. The zero value accepts all documents.
type Schema struct {
	root  any
	limit int // maximum checks per document
}

// A Violation is one error in a document: At is a JSON pointer, "" for the whole
// document, and Msg the message.
type Violation struct{ At, Msg string }

func (p Violation) String() string {
	if p.At == "" {
		return "the document: " + p.Msg
	}
	return p.At + ": " + p.Msg
}

// Limits on the cost of hostile documents and schemas.
const (
	maxProblems = 100
	maxDepth    = 100
	maxChecks   = 200_000
)

// keywords maps the known keywords to the form of their value.
var keywords = map[string]string{
	"type": "a type", "enum": "a list", "const": "", "$ref": "a place in this schema",
	"properties": "an object", "required": "a list of names", "additionalProperties": "a schema",
	"items": "a schema", "minItems": "a number", "maxItems": "a number", "uniqueItems": "true or false",
	"minLength": "a number", "maxLength": "a number", "pattern": "a pattern",
	"minimum": "a number", "maximum": "a number", "exclusiveMinimum": "a number", "exclusiveMaximum": "a number",
	"allOf": "a list of schemas", "anyOf": "a list of schemas", "oneOf": "a list of schemas", "not": "a schema",
	"$defs": "an object", "definitions": "an object",
	// Notes, without an effect.
	"$schema": "", "$id": "", "id": "", "$comment": "", "title": "", "description": "", "default": "", "examples": "", "format": "",
	"readOnly": "", "writeOnly": "", "deprecated": "", "$anchor": "", "contentMediaType": "", "contentEncoding": "",
}

// Parse parses a schema. It returns an error if the schema has an unknown keyword.
func Parse(data []byte) (*Schema, error) {
	root, err := decode(data)
	if err != nil {
		return nil, err
	}
	s := &Schema{root, maxChecks}
	v := &visit{s: s}
	v.known(root, "", 0)
	if len(v.found) > 0 {
		return nil, fmt.Errorf("%s", v.found[0])
	}
	return s, nil
}

// Check returns a document's violations, at most maxProblems. It returns an error if the
// document is invalid JSON.
func (s *Schema) Check(data []byte) ([]Violation, error) {
	doc, err := decode(data)
	if err != nil {
		return nil, err
	}
	v := &visit{s: s, checks: new(int)}
	v.check(s.root, doc, "", 0)
	return v.found[:min(len(v.found), maxProblems)], nil
}

// decode decodes one JSON value. Numbers beyond the range of float64 are no numbers.
func decode(data []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	if err := d.Decode(&v); errors.Is(err, io.EOF) {
		return nil, errors.New("no JSON: it is empty")
	} else if err != nil {
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("no JSON: something follows the first value")
	}
	return v, nil
}

// A visit is one traversal of a schema, alone or together with a document.
type visit struct {
	s      *Schema
	found  []Violation
	checks *int // number of checks, including probes
}

func (v *visit) fail(at, format string, args ...any) {
	if len(v.found) < maxProblems {
		v.found = append(v.found, Violation{at, fmt.Sprintf(format, args...)})
	}
}

// known reports unknown keywords of a schema, and keywords with invalid values.
func (v *visit) known(schema any, at string, depth int) {
	m, ok := schema.(map[string]any)
	if _, isBool := schema.(bool); isBool {
		return
	}
	if !ok || depth > maxDepth {
		v.fail(at, "no schema: %s", shown(schema))
		return
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		form, known := keywords[key]
		value, at := m[key], below(at, key)
		parts, _ := value.([]any)
		switch form {
		case "an object":
			of, isObject := value.(map[string]any)
			ok = isObject
			for _, name := range slices.Sorted(maps.Keys(of)) {
				v.known(of[name], below(at, name), depth+1)
			}
		case "a schema":
			v.known(value, at, depth+1)
		case "a list of schemas":
			ok = len(parts) > 0
			for i, part := range parts {
				v.known(part, below(at, i), depth+1)
			}
		case "a place in this schema":
			_, ok = v.s.resolve(fmt.Sprint(value))
		case "a type":
			kinds := texts(value)
			ok = len(kinds) > 0 && !slices.ContainsFunc(kinds, func(kind string) bool {
				return !slices.Contains([]string{"null", "boolean", "string", "number", "integer", "array", "object"}, kind)
			})
		case "a pattern":
			_, err := regexp.Compile(fmt.Sprint(value))
			ok = err == nil
		case "a list of names":
			ok = parts != nil && len(texts(value)) == len(parts)
		case "a list":
			ok = parts != nil
		case "true or false":
			_, ok = value.(bool)
		case "a number":
			_, ok = value.(float64)
		}
		if !known {
			v.fail(at, "want a keyword that is known")
		} else if !ok {
			v.fail(at, "want %s", form)
		}
		ok = true
	}
}

// check validates a value against a subschema.
func (v *visit) check(schema, value any, at string, depth int) {
	s, isMap := schema.(map[string]any)
	if schema == false {
		v.fail(at, "must not be there")
	}
	if !isMap {
		return
	}
	if *v.checks++; depth > maxDepth {
		v.fail(at, "the schema leads in circles")
		return
	}
	if *v.checks > v.s.limit {
		v.fail(at, "the schema asks for too much")
		return
	}
	depth++
	if ref, ok := s["$ref"].(string); ok {
		target, _ := v.s.resolve(ref)
		v.check(target, value, at, depth)
	}
	if kinds := texts(s["type"]); len(kinds) > 0 && !slices.ContainsFunc(kinds, func(k string) bool { return isA(k, value) }) {
		v.fail(at, "want %s, got %s", strings.Join(kinds, " or "), kindOf(value))
	}
	if list, ok := s["enum"].([]any); ok && !slices.ContainsFunc(list, func(e any) bool { return reflect.DeepEqual(e, value) }) {
		v.fail(at, "%s is not one of %s", shown(value), shown(list))
	}
	if want, ok := s["const"]; ok && !reflect.DeepEqual(want, value) {
		v.fail(at, "want %s, got %s", shown(want), shown(value))
	}
	v.combined(s, value, at, depth)
	switch value := value.(type) {
	case map[string]any:
		v.properties(s, value, at, depth)
	case []any:
		v.limits(s, "Items", " items", float64(len(value)), at)
		for i, e := range value {
			v.check(s["items"], e, below(at, i), depth)
			if s["uniqueItems"] == true && slices.ContainsFunc(value[:i], func(o any) bool { return reflect.DeepEqual(o, e) }) {
				v.fail(below(at, i), "is a duplicate")
			}
		}
	case string:
		v.limits(s, "Length", " characters", float64(utf8.RuneCountInString(value)), at)
		if p, ok := s["pattern"].(string); ok {
			if isMatch, err := regexp.MatchString(p, value); err != nil || !isMatch {
				v.fail(at, "%s does not match %s", shown(value), p)
			}
		}
	case float64:
		v.limits(s, "imum", "", value, at)
	}
}

// limits checks the keywords min... and max... for a number.
func (v *visit) limits(s map[string]any, keyword, what string, n float64, at string) {
	for _, limit := range []struct {
		key, want string
		bad       func(limit float64) bool
	}{
		{"min" + keyword, "at least", func(limit float64) bool { return n < limit }},
		{"max" + keyword, "at most", func(limit float64) bool { return n > limit }},
		{"exclusiveMin" + keyword, "more than", func(limit float64) bool { return n <= limit }},
		{"exclusiveMax" + keyword, "less than", func(limit float64) bool { return n >= limit }},
	} {
		if l, ok := s[limit.key].(float64); ok && limit.bad(l) {
			v.fail(at, "want %s %s%s, got %s", limit.want, shown(l), what, shown(n))
		}
	}
}

func (v *visit) properties(s, value map[string]any, at string, depth int) {
	for _, name := range texts(s["required"]) {
		if _, ok := value[name]; !ok {
			v.fail(below(at, name), "missing")
		}
	}
	named, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(value)) {
		part, known := named[name]
		if !known {
			part = s["additionalProperties"]
		}
		v.check(part, value[name], below(at, name), depth)
	}
}

// combined checks allOf, anyOf, oneOf and not.
func (v *visit) combined(s map[string]any, value any, at string, depth int) {
	fits := func(part any) bool {
		probe := &visit{s: v.s, checks: v.checks} // its violations are not reported
		probe.check(part, value, at, depth)
		return len(probe.found) == 0
	}
	all, _ := s["allOf"].([]any)
	for _, part := range all {
		v.check(part, value, at, depth)
	}
	if forms, ok := s["anyOf"].([]any); ok && !slices.ContainsFunc(forms, fits) {
		v.fail(at, "fits none of %d forms", len(forms))
	}
	if forms, ok := s["oneOf"].([]any); ok {
		n := 0
		for _, part := range forms {
			if fits(part) {
				n++
			}
		}
		if n != 1 {
			v.fail(at, "fits %d of %d forms, want one", n, len(forms))
		}
	}
	if not, ok := s["not"]; ok && fits(not) {
		v.fail(at, "must not be of that form")
	}
}

// resolve returns the subschema referenced by ref.
func (s *Schema) resolve(ref string) (at any, ok bool) {
	path, ok := strings.CutPrefix(ref, "#")
	at = s.root
	for _, key := range strings.Split(path, "/")[1:] {
		m, _ := at.(map[string]any)
		if at, ok = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(key)]; !ok {
			return nil, false
		}
	}
	return at, ok && (path == "" || path[0] == '/')
}

// texts returns a string or a list's strings as a slice.
func texts(v any) []string {
	if s, ok := v.(string); ok {
		return []string{s}
	}
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// shown formats a value for a message.
func shown(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return fmt.Sprintf("%.100s", data)
}

// isA reports whether a value has type kind. Numbers without a fraction are integers in
// any notation.
func isA(kind string, v any) bool {
	if n, ok := v.(float64); ok && kind == "integer" {
		return n == math.Trunc(n)
	}
	return kindOf(v) == kind
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// below returns the JSON pointer of a child.
func below(at string, key any) string {
	return at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(fmt.Sprint(key))
}
