package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// texts returns a string or a list's strings as a slice.
func texts(v any) []string {
	if s, ok := v.(string); ok {
		return []string{s}
	}
	var out []string
	for _, e := range list(v) {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// isA reports whether a value has type kind. Numbers without a fraction are integers in
// any notation.
func isA(kind string, v any) bool {
	if n, ok := v.(json.Number); ok && kind == "integer" {
		r, ok := rational(n)
		return ok && r.IsInt()
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
	case json.Number:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case json.Number:
		m, isA := rational(a)
		n, isB := rational(b)
		return isA && isB && m.Cmp(n) == 0
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}

// shown formats a value for a message.
func shown(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return fmt.Sprintf("%.100s", data)
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
		v.keyword(key, m[key], below(at, key), depth+1)
	}
}

func (v *visit) keyword(key string, value any, at string, depth int) {
	switch key {
	case "properties", "patternProperties", "$defs", "definitions":
		parts, ok := value.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(parts)) {
			if _, err := regexp.Compile(name); key == "patternProperties" && err != nil {
				v.fail(below(at, name), "no pattern: %v", err)
			}
			v.known(parts[name], below(at, name), depth)
		}
		v.want(ok, at, "an object")
	case "additionalProperties", "propertyNames", "additionalItems", "contains", "not", "if", "then", "else":
		v.known(value, at, depth)
	case "items":
		if l, ok := value.([]any); ok {
			v.each(l, at, depth)
			return
		}
		v.known(value, at, depth)
	case "allOf", "anyOf", "oneOf", "prefixItems":
		v.want(len(list(value)) > 0, at, "a list of schemas")
		v.each(list(value), at, depth)
	case "$ref":
		_, found := v.s.resolve(fmt.Sprint(value))
		v.want(found, at, "a place in this schema")
	case "type":
		for _, kind := range texts(value) {
			v.want(slices.Contains([]string{"null", "boolean", "string", "number", "integer", "array", "object"}, kind), at, "a type")
		}
		v.want(len(texts(value)) > 0, at, "a type")
	case "pattern":
		_, err := regexp.Compile(fmt.Sprint(value))
		v.want(err == nil, at, "a pattern")
	case "enum":
		v.want(kindOf(value) == "array", at, "a list")
	case "required":
		v.want(kindOf(value) == "array" && len(texts(value)) == len(list(value)), at, "a list of names")
	case "dependentRequired":
		v.want(kindOf(value) == "object", at, "an object")
	case "uniqueItems":
		v.want(kindOf(value) == "boolean", at, "true or false")
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
		"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		_, ok := rational(value)
		v.want(ok, at, "a number")
	case "const":
	default:
		v.want(slices.Contains(notes, key), at, "a keyword that is known")
	}
}

func (v *visit) each(parts []any, at string, depth int) {
	for i, part := range parts {
		v.known(part, below(at, i), depth)
	}
}

func (v *visit) want(ok bool, at, what string) {
	if !ok {
		v.fail(at, "want %s", what)
	}
}
