package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
)

func (v *visit) properties(s, value map[string]any, at string, depth int) {
	for _, name := range texts(s["required"]) {
		if _, ok := value[name]; !ok {
			v.fail(below(at, name), "missing")
		}
	}
	if needs, ok := s["dependentRequired"].(map[string]any); ok {
		for _, name := range slices.Sorted(maps.Keys(needs)) {
			if _, there := value[name]; !there {
				continue
			}
			for _, other := range texts(needs[name]) {
				if _, there := value[other]; !there {
					v.fail(below(at, other), "missing, as there is %s", name)
				}
			}
		}
	}
	v.count(s, "minProperties", "maxProperties", "properties", len(value), at)
	named, _ := s["properties"].(map[string]any)
	patterns, _ := s["patternProperties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(value)) {
		part, at := value[name], below(at, name)
		known := false
		if sub, ok := named[name]; ok {
			known = true
			v.check(sub, part, at, depth)
		}
		for _, p := range slices.Sorted(maps.Keys(patterns)) {
			if matches(p, name) {
				known = true
				v.check(patterns[p], part, at, depth)
			}
		}
		if more, ok := s["additionalProperties"]; ok && !known {
			v.check(more, part, at, depth)
		}
		if names, ok := s["propertyNames"]; ok {
			v.check(names, name, at, depth)
		}
	}
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

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// count checks the minimum and maximum of a count.
func (v *visit) count(s map[string]any, least, most, what string, n int, at string) {
	have := new(big.Rat).SetInt64(int64(n))
	if l, ok := rational(s[least]); ok && have.Cmp(l) < 0 {
		v.fail(at, "want at least %v %s, got %d", s[least], what, n)
	}
	if l, ok := rational(s[most]); ok && have.Cmp(l) > 0 {
		v.fail(at, "want at most %v %s, got %d", s[most], what, n)
	}
}

// maxDigits limits numbers, because big expands 1e999999999 to all digits.
const maxDigits = 64

// rational converts a JSON number; it returns false for other values and oversized
// numbers.
func rational(v any) (*big.Rat, bool) {
	n, ok := v.(json.Number)
	if f, err := n.Float64(); !ok || len(n) > maxDigits || err != nil || f > 1e40 || f < -1e40 {
		return nil, false
	}
	return new(big.Rat).SetString(string(n))
}

func matches(pattern, s string) bool {
	re, err := regexp.Compile(pattern)
	return err == nil && re.MatchString(s)
}

func (v *visit) items(s map[string]any, value []any, at string, depth int) {
	v.count(s, "minItems", "maxItems", "items", len(value), at)
	first, rest := list(s["prefixItems"]), s["items"]
	if l, ok := s["items"].([]any); ok { // syntax up to draft 2019-09
		first, rest = l, s["additionalItems"]
	}
	found := false
	for i, e := range value {
		if i < len(first) {
			v.check(first[i], e, below(at, i), depth)
		} else {
			v.check(rest, e, below(at, i), depth)
		}
		if part, ok := s["contains"]; ok && !found {
			probe := v.probe()
			probe.check(part, e, at, depth)
			found = len(probe.found) == 0
		}
		if s["uniqueItems"] == true && slices.ContainsFunc(value[:i], func(o any) bool { return equal(o, e) }) {
			v.fail(below(at, i), "is a duplicate")
		}
	}
	if _, ok := s["contains"]; ok && !found {
		v.fail(at, "has no element of the form that it must contain")
	}
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

func (v *visit) number(s map[string]any, value json.Number, at string) {
	n, ok := rational(value)
	if !ok {
		v.fail(at, "%.40s is too large a number", value)
		return
	}
	for _, limit := range []struct {
		key, want string
		bad       func(int) bool
	}{
		{"minimum", "at least", func(c int) bool { return c < 0 }},
		{"maximum", "at most", func(c int) bool { return c > 0 }},
		{"exclusiveMinimum", "more than", func(c int) bool { return c <= 0 }},
		{"exclusiveMaximum", "less than", func(c int) bool { return c >= 0 }},
	} {
		if l, ok := rational(s[limit.key]); ok && limit.bad(n.Cmp(l)) {
			v.fail(at, "want %s %v, got %s", limit.want, s[limit.key], value)
		}
	}
	if step, ok := rational(s["multipleOf"]); ok && step.Sign() > 0 && !new(big.Rat).Quo(n, step).IsInt() {
		v.fail(at, "want a multiple of %v, got %s", s["multipleOf"], value)
	}
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

func (v *visit) want(ok bool, at, what string) {
	if !ok {
		v.fail(at, "want %s", what)
	}
}

func (v *visit) each(parts []any, at string, depth int) {
	for i, part := range parts {
		v.known(part, below(at, i), depth)
	}
}
