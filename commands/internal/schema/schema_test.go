package schema

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name, schema, doc string
		want              string // violations, "" if valid
	}{
		{"anything", `true`, `{"a":1}`, ""},
		{"nothing", `false`, `1`, "the document: must not be there"},
		{"type", `{"type":"object"}`, `[]`, "the document: want object, got array"},
		{"types", `{"type":["string","null"]}`, `true`, "the document: want string or null, got boolean"},
		{"an integer", `{"type":"integer"}`, `1.0`, ""},
		{"no integer", `{"type":"integer"}`, `1.5`, "the document: want integer, got number"},
		{"an integer is a number", `{"type":"number"}`, `7`, ""},
		{"required", `{"required":["a","b/c"]}`, `{"a":null}`, "/b~1c: missing"},
		{"required of no object", `{"required":["a"]}`, `3`, ""},
		{"properties", `{"properties":{"a":{"type":"string"}}}`, `{"a":1,"b":2}`, "/a: want string, got number"},
		{"no others", `{"properties":{"a":true},"additionalProperties":false}`, `{"a":1,"b":2}`, "/b: must not be there"},
		{"others", `{"additionalProperties":{"type":"string"},"properties":{"a":true}}`, `{"a":1,"b":2}`, "/b: want string, got number"},
		{"items", `{"items":{"type":"string"}}`, `["a",1]`, "/1: want string, got number"},
		{"how many items", `{"minItems":2}`, `[1]`, "the document: want at least 2 items, got 1"},
		{"twice", `{"uniqueItems":true}`, `[{"a":1},{"a":1.0}]`, "/1: is a duplicate"},
		{"enum", `{"enum":["a",null,[1]]}`, `"b"`, `the document: "b" is not one of ["a",null,[1]]`},
		{"in an enum", `{"enum":["a",{"b":[1]}]}`, `{"b":[1.0]}`, ""},
		{"const", `{"const":{"a":1}}`, `{"a":2}`, `the document: want {"a":1}, got {"a":2}`},
		{"least", `{"minimum":1}`, `0.5`, "the document: want at least 1, got 0.5"},
		{"most", `{"maximum":10}`, `10`, ""},
		{"between", `{"exclusiveMinimum":1,"exclusiveMaximum":2}`, `2`, "the document: want less than 2, got 2"},
		{"at the limit, which is out", `{"exclusiveMinimum":1}`, `1`, "the document: want more than 1, got 1"},
		{"characters", `{"maxLength":2}`, `"äöü"`, "the document: want at most 2 characters, got 3"},
		{"all", `{"allOf":[{"type":"string"},{"minLength":2}]}`, `"a"`, "the document: want at least 2 characters, got 1"},
		{"any", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, "the document: fits none of 2 forms"},
		{"one", `{"oneOf":[{"type":"number"},{"minimum":1}]}`, `1`, "the document: fits 2 of 2 forms, want one"},
		{"not", `{"not":{"type":"string"}}`, `"a"`, "the document: must not be of that form"},
		{"a reference", `{"$defs":{"s":{"type":"string"}},"items":{"$ref":"#/$defs/s"}}`, `[1]`, "/0: want string, got number"},
		{"itself", `{"properties":{"next":{"$ref":"#"}},"additionalProperties":false}`, `{"next":{"next":{"x":1}}}`, "/next/next/x: must not be there"},
		{"in circles", `{"$defs":{"a":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`, `1`, "the document: the schema leads in circles"},
		{"a mark of byte order", `{"type":"object"}`, "\ufeff{}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Parse([]byte(c.schema))
			require.NoError(t, err)
			found, err := s.Check([]byte(c.doc))
			require.NoError(t, err)
			var got []string
			for _, p := range found {
				got = append(got, p.String())
			}
			assert.Equal(t, c.want, strings.Join(got, "; "))
		})
	}
}

func TestParseRefusesInvalidSchemas(t *testing.T) {
	for schema, want := range map[string]string{
		``:                                 "no JSON: it is empty",
		`{} {}`:                            "no JSON: something follows the first value",
		`{"typ":"object"}`:                 "/typ: want a keyword that is known",
		`{"type":"text"}`:                  "/type: want a type",
		`{"properties":{"a":{"min":1}}}`:   "/properties/a/min: want a keyword that is known",
		`{"pattern":"("}`:                  "/pattern: want a pattern",
		`{"$ref":"other.json"}`:            "/$ref: want a place in this schema",
		`{"$ref":"#/$defs/x"}`:             "/$ref: want a place in this schema",
		`{"required":"a"}`:                 "/required: want a list of names",
		`{"items":7}`:                      "/items: no schema: 7",
		`{"minimum":"1"}`:                  "/minimum: want a number",
		`[]`:                               "the document: no schema: []",
		`{"unevaluatedProperties":false}`:  "/unevaluatedProperties: want a keyword that is known",
		`{"patternProperties":{"a":true}}`: "/patternProperties: want a keyword that is known",
		`{"if":true}`:                      "/if: want a keyword that is known",
		`{"allOf":[]}`:                     "/allOf: want a list of schemas",
		`{"uniqueItems":1}`:                "/uniqueItems: want true or false",
	} {
		_, err := Parse([]byte(schema))
		assert.EqualError(t, err, want, schema)
	}
}

func TestCheckRefusesInvalidJSON(t *testing.T) {
	s, err := Parse([]byte(`{}`))
	require.NoError(t, err)
	for _, doc := range []string{"", "{", "{} x", "nul", "1e99999999"} {
		_, err := s.Check([]byte(doc))
		assert.ErrorContains(t, err, "no JSON", doc)
	}
}

func TestCheckIsBounded(t *testing.T) {
	s, err := Parse([]byte(`{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}`))
	require.NoError(t, err)
	s.limit = 1000
	found, err := s.Check([]byte(`1`))
	require.NoError(t, err)
	assert.Equal(t, []Violation{{"", "fits none of 2 forms"}}, found)
}

// Arbitrary documents and schemas cause neither panics nor endless runs.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"$ref":"#"}}}`), []byte(`{"a":{"a":1}}`))
	f.Fuzz(func(t *testing.T, schema, doc []byte) {
		if s, err := Parse(schema); err == nil {
			s.limit = 1000
			found, _ := s.Check(doc)
			assert.LessOrEqual(t, len(found), maxProblems)
		}
	})
}
