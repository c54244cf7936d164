package document

import (
	"iter"
	"slices"
)

// Map is an ordered mapping with text keys. Its values are nil, bool, Number, string,
// []any and *Map. The zero value is an empty Map, and so is a nil *Map for readers.
type Map struct {
	Entries []Entry
	index   map[string]int // nil below indexFrom keys
}

type Entry struct {
	Key   string
	Value any
}

// NewMap returns an empty Map.
func NewMap() *Map { return &Map{} }

// Len returns the number of keys.
func (m *Map) Len() int { return len(m.entries()) }

func (m *Map) entries() []Entry {
	if m == nil {
		return nil
	}
	return m.Entries
}

// Keys returns all keys in order.
func (m *Map) Keys() []string {
	keys := make([]string, m.Len())
	for k := range keys {
		keys[k] = m.Entries[k].Key
	}
	return keys
}

// All returns an iterator over keys and values in order.
func (m *Map) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for k := range m.Len() {
			if !yield(m.Entries[k].Key, m.Entries[k].Value) {
				return
			}
		}
	}
}

// Subs returns an iterator over the keys whose values are mappings.
func (m *Map) Subs() iter.Seq2[string, *Map] {
	return func(yield func(string, *Map) bool) {
		for key, v := range m.All() {
			if sub, ok := v.(*Map); ok && sub != nil && !yield(key, sub) {
				return
			}
		}
	}
}

func (m *Map) Find(key string) int {
	if m == nil {
		return -1
	}
	if m.index != nil {
		if k, ok := m.index[key]; ok {
			return k
		}
		return -1
	}
	for k := range m.Entries {
		if m.Entries[k].Key == key {
			return k
		}
	}
	return -1
}

// Get returns the value of key, and whether the key exists.
func (m *Map) Get(key string) (any, bool) {
	if k := m.Find(key); k >= 0 {
		return m.Entries[k].Value, true
	}
	return nil, false
}

// Set sets the value of key. A new key is appended. Go numbers, string types, slices and
// maps are converted to document values.
func (m *Map) Set(key string, v any) {
	v = ValueOf(v)
	if k := m.Find(key); k >= 0 {
		m.Entries[k].Value = v
		return
	}
	m.Add(key, v)
}

// indexFrom is the minimum number of keys for an index. Below it, a linear search is
// faster.
const indexFrom = 17

// Add appends a new key.
func (m *Map) Add(key string, v any) {
	m.Entries = append(m.Entries, Entry{key, v})
	if m.index != nil {
		m.index[key] = len(m.Entries) - 1
	} else if len(m.Entries) >= indexFrom {
		m.reindex()
	}
}

// Delete removes key if it exists.
func (m *Map) Delete(key string) {
	k := m.Find(key)
	if k < 0 {
		return
	}
	m.Entries = slices.Delete(m.Entries, k, k+1)
	m.reindex()
}

// Rename renames a key and keeps its position. An existing key called name is removed.
func (m *Map) Rename(key, name string) {
	if key == name || m.Find(key) < 0 {
		return
	}
	m.Delete(name)
	m.Entries[m.Find(key)].Key = name
	m.reindex()
}

// Clone returns a deep copy.
func (m *Map) Clone() *Map {
	c := &Map{Entries: make([]Entry, m.Len())}
	for k := range c.Entries {
		c.Entries[k] = Entry{m.Entries[k].Key, Clone(m.Entries[k].Value)}
	}
	c.reindex()
	return c
}

func Clone(v any) any {
	switch v := v.(type) {
	case *Map:
		return v.Clone()
	case []any:
		c := make([]any, len(v))
		for k := range v {
			c[k] = Clone(v[k])
		}
		return c
	}
	return v
}

// Merge merges from into m: mappings are merged recursively, nil deletes the key, and
// other values replace existing values.
func (m *Map) Merge(from *Map) {
	gone := map[string]bool{}
	for key, v := range from.All() {
		switch v := v.(type) {
		case nil:
			gone[key] = true
		case *Map:
			m.MustSub(key).Merge(v)
		default:
			m.Set(key, Clone(v))
		}
	}
	if len(gone) > 0 {
		m.Entries = slices.DeleteFunc(m.Entries, func(e Entry) bool { return gone[e.Key] })
		m.reindex()
	}
}

// Child returns the mapping under key, and false for other values.
func (m *Map) Child(key string) (*Map, bool) {
	v, _ := m.Get(key)
	sub, ok := v.(*Map)
	return sub, ok && sub != nil
}

// Equal reports whether two document values are equal, including key order.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case *Map:
		b, ok := b.(*Map)
		return ok && slices.EqualFunc(a.entries(), b.entries(), func(x, y Entry) bool { return x.Key == y.Key && Equal(x.Value, y.Value) })
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Equal)
	case nil, bool, string, Number:
		return a == b
	}
	return false
}

// Sub returns the mapping under key, nil if missing.
func (m *Map) Sub(key string) *Map {
	sub, _ := m.Child(key)
	return sub
}

// MustSub returns the mapping under key. It creates a new mapping if the key is missing
// or has another value.
func (m *Map) MustSub(key string) *Map {
	sub, ok := m.Child(key)
	if !ok {
		sub = NewMap()
		m.Set(key, sub)
	}
	return sub
}

// Text returns the text or number under key as text, "" for other values.
func (m *Map) Text(key string) string {
	v, _ := m.Get(key)
	return AsText(v)
}

// SetText sets a text, or deletes the key if the text is empty.
func (m *Map) SetText(key, s string) {
	if s == "" {
		m.Delete(key)
		return
	}
	m.Set(key, s)
}

// Int returns a number, or a number written as text, under key.
func (m *Map) Int(key string) int64 {
	n, _ := Number(m.Text(key)).Int()
	return n
}

func AsText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case Number:
		return string(v)
	}
	return ""
}

// List returns the list under key, nil for other values.
func (m *Map) List(key string) []any {
	v, _ := m.Get(key)
	l, _ := v.([]any)
	return l
}

// Texts returns the texts of the list under key.
func (m *Map) Texts(key string) []string {
	var out []string
	for _, v := range m.List(key) {
		if s := AsText(v); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Maps returns the mappings of the list under key.
func (m *Map) Maps(key string) []*Map {
	var out []*Map
	for _, v := range m.List(key) {
		if sub, ok := v.(*Map); ok && sub != nil {
			out = append(out, sub)
		}
	}
	return out
}

func (m *Map) reindex() {
	m.index = nil
	if len(m.Entries) < indexFrom {
		return
	}
	m.index = make(map[string]int, 2*len(m.Entries))
	for k, e := range m.Entries {
		m.index[e.Key] = k
	}
}
