// Package schema validates JSON documents against a JSON Schema, for example a phase's
// outcome with the fields required by the next phase.
//
// Supported keywords are those of drafts 6 to 2020-12 that apply to a single document:
//
//	type enum const
//	properties patternProperties additionalProperties propertyNames
//	required dependentRequired minProperties maxProperties
//	items prefixItems additionalItems contains minItems maxItems uniqueItems
//	minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
//	minLength maxLength pattern
//	allOf anyOf oneOf not if then else
//	$ref, to a part of the same schema
//
// Annotations and format are ignored. Other keywords are errors, because their
// constraints would remain unchecked.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// decode decodes one JSON value and preserves the notation of numbers.
func decode(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("no JSON: it is empty")
		}
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

// check validates a value against a subschema.
func (v *visit) check(schema, value any, at string, depth int) {
	switch s := schema.(type) {
	case bool:
		if !s {
			v.fail(at, "must not be there")
		}
	case map[string]any:
		if *v.checks++; depth > maxDepth {
			v.fail(at, "the schema leads in circles")
			return
		}
		if *v.checks > v.s.limit {
			v.fail(at, "the schema asks for too much")
			return
		}
		v.object(s, value, at, depth+1)
	}
}

func (v *visit) fail(at, format string, args ...any) {
	if len(v.found) < maxProblems {
		v.found = append(v.found, Violation{at, fmt.Sprintf(format, args...)})
	}
}

func (v *visit) object(s map[string]any, value any, at string, depth int) {
	if ref, ok := s["$ref"].(string); ok {
		target, _ := v.s.resolve(ref)
		v.check(target, value, at, depth)
	}
	if kinds := texts(s["type"]); len(kinds) > 0 && !slices.ContainsFunc(kinds, func(k string) bool { return isA(k, value) }) {
		v.fail(at, "want %s, got %s", strings.Join(kinds, " or "), kindOf(value))
	}
	if list, ok := s["enum"].([]any); ok && !slices.ContainsFunc(list, func(e any) bool { return equal(e, value) }) {
		v.fail(at, "%s is not one of %s", shown(value), shown(list))
	}
	if want, ok := s["const"]; ok && !equal(want, value) {
		v.fail(at, "want %s, got %s", shown(want), shown(value))
	}
	v.combined(s, value, at, depth)
	switch value := value.(type) {
	case map[string]any:
		v.properties(s, value, at, depth)
	case []any:
		v.items(s, value, at, depth)
	case string:
		v.count(s, "minLength", "maxLength", "characters", utf8.RuneCountInString(value), at)
		if p, ok := s["pattern"].(string); ok && !matches(p, value) {
			v.fail(at, "%s does not match %s", shown(value), p)
		}
	case json.Number:
		v.number(s, value, at)
	}
}

// resolve returns the subschema referenced by ref.
func (s *Schema) resolve(ref string) (any, bool) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || path != "" && path[0] != '/' {
		return nil, false
	}
	at := s.root
	for _, key := range strings.Split(path, "/")[min(1, len(path)):] {
		if path == "" {
			break
		}
		key = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
		m, isMap := at.(map[string]any)
		if !isMap {
			return nil, false
		}
		if at, ok = m[key]; !ok {
			return nil, false
		}
	}
	return at, true
}

// combined checks allOf, anyOf, oneOf, not and if.
func (v *visit) combined(s map[string]any, value any, at string, depth int) {
	fits := func(part any) bool {
		probe := v.probe()
		probe.check(part, value, at, depth)
		return len(probe.found) == 0
	}
	for _, part := range list(s["allOf"]) {
		v.check(part, value, at, depth)
	}
	if any := list(s["anyOf"]); len(any) > 0 && !slices.ContainsFunc(any, fits) {
		v.fail(at, "fits none of %d forms", len(any))
	}
	if one := list(s["oneOf"]); len(one) > 0 {
		n := 0
		for _, part := range one {
			if fits(part) {
				n++
			}
		}
		if n != 1 {
			v.fail(at, "fits %d of %d forms, want one", n, len(one))
		}
	}
	if not, ok := s["not"]; ok && fits(not) {
		v.fail(at, "must not be of that form")
	}
	if cond, ok := s["if"]; ok {
		if fits(cond) {
			v.check(s["then"], value, at, depth)
		} else {
			v.check(s["else"], value, at, depth)
		}
	}
}

// probe returns a visit whose violations are only tested, not reported.
func (v *visit) probe() *visit { return &visit{s: v.s, checks: v.checks} }

// notes lists ignored keywords.
var notes = []string{
	"$schema", "$id", "id", "$comment", "title", "description", "default", "examples", "format", "definitions", "$defs",
	"readOnly", "writeOnly", "deprecated", "$anchor", "contentMediaType", "contentEncoding",
}

// below returns the JSON pointer of a child.
func below(at string, key any) string {
	return at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(fmt.Sprint(key))
}
