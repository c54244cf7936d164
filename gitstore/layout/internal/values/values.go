// Package values reads and changes the values of documents. Paths have the syntax of
// checkpoint.Map.Lookup. Missing values, null and values of another type read as empty.
package values

import (
	"slices"
	"strings"
	"unicode"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/document"
)

// AsText returns a text or a number as text, "" for other values.
func AsText(v any) string { return document.AsText(v) }

// Get returns the value at a path, nil if missing.
func Get(m *checkpoint.Map, path string) any {
	v, _ := m.Lookup(path)
	return v
}

// First returns the first value at the given paths that is not null, or nil.
func First(m *checkpoint.Map, paths ...string) any {
	for _, p := range paths {
		if v := Get(m, p); v != nil {
			return v
		}
	}
	return nil
}

// Text returns the first nonempty text at the given paths.
func Text(m *checkpoint.Map, paths ...string) string {
	for _, p := range paths {
		if s := AsText(Get(m, p)); s != "" {
			return s
		}
	}
	return ""
}

func Has(m *checkpoint.Map, keys ...string) bool {
	return !slices.ContainsFunc(keys, func(k string) bool {
		_, ok := m.Get(k)
		return !ok
	})
}

func HasAny(m *checkpoint.Map, keys ...string) bool {
	return slices.ContainsFunc(keys, func(k string) bool { return Has(m, k) })
}

// Sub returns the mapping at a path, or a new empty mapping if missing.
func Sub(m *checkpoint.Map, path string) *checkpoint.Map {
	if c, ok := Get(m, path).(*checkpoint.Map); ok {
		return c
	}
	return checkpoint.NewMap()
}

// Texts returns the texts of a list, or a single text as a list.
func Texts(v any) []string {
	if s := AsText(v); s != "" {
		return []string{s}
	}
	l, _ := v.([]any)
	var out []string
	for _, e := range l {
		if s := AsText(e); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Same reports whether two values are equal, regardless of key order and of numbers
// written as text.
func Same(a, b any) bool {
	switch a := a.(type) {
	case *checkpoint.Map:
		b, ok := b.(*checkpoint.Map)
		if !ok || a.Len() != b.Len() {
			return false
		}
		for key, v := range a.All() {
			if w, ok := b.Get(key); !ok || !Same(v, w) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Same)
	case string, checkpoint.Number:
		switch b.(type) {
		case string, checkpoint.Number:
			return AsText(a) == AsText(b)
		}
		return false
	}
	return checkpoint.Equal(a, b)
}

// Put sets a value unless the existing value is equal by same.
func Put(m *checkpoint.Map, key string, v any) {
	if old, ok := m.Get(key); !ok || !Same(old, document.ValueOf(v)) {
		m.Set(key, v)
	}
}

// Copy puts the values of some keys of another mapping that are not null.
func Copy(m, from *checkpoint.Map, keys ...string) {
	for _, key := range keys {
		if v, _ := from.Get(key); v != nil {
			Put(m, key, v)
		}
	}
}

// PutText sets a text, but leaves the value unchanged if the text is empty.
func PutText(m *checkpoint.Map, key, s string) {
	if s != "" {
		Put(m, key, s)
	}
}

// Spelled returns s as a number if s is an integer.
func Spelled(s string) any {
	if _, ok := checkpoint.Number(s).Int(); ok {
		return checkpoint.Number(s)
	}
	return s
}

func SpelledAll(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = Spelled(s)
	}
	return out
}

// Absolute reports whether a path is valid on a single machine only.
func Absolute(p string) bool {
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~/") || strings.HasPrefix(p, `\\`) ||
		len(p) > 2 && p[1] == ':' && (p[2] == '/' || p[2] == '\\')
}

// NewMap returns a mapping with alternating keys and values.
func NewMap(pairs ...any) *checkpoint.Map {
	m := checkpoint.NewMap()
	for i := 0; i+1 < len(pairs); i += 2 {
		m.Set(pairs[i].(string), pairs[i+1])
	}
	return m
}

// Line folds a text into one line without control characters.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\r', r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return '\ufffd'
		}
		return r
	}, s)
}

// SameTexts reports whether two lists have the same texts in any order.
func SameTexts(a, b []string) bool {
	set := func(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
	return slices.Equal(set(a), set(b))
}
