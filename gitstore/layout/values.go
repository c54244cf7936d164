package layout

import (
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

type (
	object = checkpoint.Map
	number = checkpoint.Number
)

// textOf returns a text or a number as text, "" for other values.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case number:
		return string(v)
	}
	return ""
}

// get returns the value at a path, nil if missing.
func get(m *object, path string) any {
	v, _ := m.Lookup(path)
	return v
}

// text returns the first nonempty text at the given paths.
func text(m *object, paths ...string) string {
	for _, p := range paths {
		if s := textOf(get(m, p)); s != "" {
			return s
		}
	}
	return ""
}

func has(m *object, keys ...string) bool {
	return !slices.ContainsFunc(keys, func(k string) bool {
		_, ok := m.Get(k)
		return !ok
	})
}

func hasAny(m *object, keys ...string) bool {
	return slices.ContainsFunc(keys, func(k string) bool { return has(m, k) })
}

func isMap(m *object, key string) bool {
	_, ok := get(m, key).(*object)
	return ok
}

func isList(m *object, key string) bool {
	_, ok := get(m, key).([]any)
	return ok
}

// sub returns the mapping at a path, or a new empty mapping if missing.
func sub(m *object, path string) *object {
	if c, ok := get(m, path).(*object); ok {
		return c
	}
	return checkpoint.NewMap()
}

// mustSub returns the mapping under key and creates it if necessary.
func mustSub(m *object, key string) *object {
	if c, ok := get(m, checkpoint.PathOf("", key)).(*object); ok {
		return c
	}
	c := checkpoint.NewMap()
	m.Set(key, c)
	return c
}

// texts returns the texts of a list, or a single text as a list.
func texts(v any) []string {
	if s := textOf(v); s != "" {
		return []string{s}
	}
	l, _ := v.([]any)
	var out []string
	for _, e := range l {
		if s := textOf(e); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// same reports whether two values are equal, regardless of key order and of numbers
// written as text.
func same(a, b any) bool {
	switch a := a.(type) {
	case *object:
		b, ok := b.(*object)
		return ok && sameMap(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case string, number:
		switch b.(type) {
		case string, number:
			return textOf(a) == textOf(b)
		}
		return false
	}
	return checkpoint.Equal(a, b)
}

func sameMap(a, b *object) bool {
	if a.Len() != b.Len() {
		return false
	}
	for key, v := range a.All() {
		w, ok := b.Get(key)
		if !ok || !same(v, w) {
			return false
		}
	}
	return true
}

// put sets a value unless the existing value is equal by same.
func put(m *object, key string, v any) {
	probe := checkpoint.NewMap()
	probe.Set(key, v)
	want, _ := probe.Get(key)
	if old, ok := m.Get(key); !ok || !same(old, want) {
		m.Set(key, v)
	}
}

// putText sets a text, but leaves the value unchanged if the text is empty.
func putText(m *object, key, s string) {
	if s != "" {
		put(m, key, s)
	}
}

// spelled returns s as a number if s is an integer.
func spelled(s string) any {
	if _, ok := number(s).Int(); ok {
		return number(s)
	}
	return s
}

func spelledAll(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = spelled(s)
	}
	return out
}

// absolute reports whether a path is valid on a single machine only.
func absolute(p string) bool {
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~/") || strings.HasPrefix(p, `\\`) ||
		len(p) > 2 && p[1] == ':' && (p[2] == '/' || p[2] == '\\')
}

// snake converts a name to lower-case letters, digits and '_'.
func snake(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, s), "_")
}
