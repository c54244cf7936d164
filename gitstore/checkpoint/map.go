package checkpoint

import "slices"

// indexFrom is the minimum number of keys for an index. Below it, a linear search is
// faster.
const indexFrom = 17

// Map is an ordered mapping with text keys. Its values are nil, bool, Number, string,
// []any and *Map. The zero value is an empty Map, and so is a nil *Map for readers.
type Map struct {
	entries []entry
	index   map[string]int // nil below indexFrom keys
}

type entry struct {
	key   string
	value any
}

// NewMap returns an empty Map.
func NewMap() *Map { return &Map{} }

// Len returns the number of keys.
func (m *Map) Len() int {
	if m == nil {
		return 0
	}
	return len(m.entries)
}

// Keys returns all keys in order.
func (m *Map) Keys() []string {
	keys := make([]string, m.Len())
	for k := range keys {
		keys[k] = m.entries[k].key
	}
	return keys
}

// All returns an iterator over keys and values in order.
func (m *Map) All() func(yield func(string, any) bool) {
	return func(yield func(string, any) bool) {
		for k := range m.Len() {
			if !yield(m.entries[k].key, m.entries[k].value) {
				return
			}
		}
	}
}

func (m *Map) find(key string) int {
	if m == nil {
		return -1
	}
	if m.index != nil {
		if k, ok := m.index[key]; ok {
			return k
		}
		return -1
	}
	for k := range m.entries {
		if m.entries[k].key == key {
			return k
		}
	}
	return -1
}

// Get returns the value of key, and whether the key exists.
func (m *Map) Get(key string) (any, bool) {
	if k := m.find(key); k >= 0 {
		return m.entries[k].value, true
	}
	return nil, false
}

// Set sets the value of key. A new key is appended. Go numbers, string types, slices and
// maps are converted to document values.
func (m *Map) Set(key string, v any) {
	v = value(v)
	if k := m.find(key); k >= 0 {
		m.entries[k].value = v
		return
	}
	m.add(key, v)
}

// add appends a new key.
func (m *Map) add(key string, v any) {
	m.entries = append(m.entries, entry{key, v})
	if m.index != nil {
		m.index[key] = len(m.entries) - 1
	} else if len(m.entries) >= indexFrom {
		m.reindex()
	}
}

func (m *Map) reindex() {
	m.index = nil
	if len(m.entries) < indexFrom {
		return
	}
	m.index = make(map[string]int, 2*len(m.entries))
	for k, e := range m.entries {
		m.index[e.key] = k
	}
}

// Delete removes key if it exists.
func (m *Map) Delete(key string) {
	k := m.find(key)
	if k < 0 {
		return
	}
	m.entries = slices.Delete(m.entries, k, k+1)
	m.reindex()
}

// Rename renames a key and keeps its position. An existing key called name is removed.
func (m *Map) Rename(key, name string) {
	if key == name || m.find(key) < 0 {
		return
	}
	m.Delete(name)
	m.entries[m.find(key)].key = name
	m.reindex()
}

// Clone returns a deep copy.
func (m *Map) Clone() *Map {
	c := &Map{entries: make([]entry, m.Len())}
	for k := range c.entries {
		c.entries[k] = entry{m.entries[k].key, clone(m.entries[k].value)}
	}
	c.reindex()
	return c
}

func clone(v any) any {
	switch v := v.(type) {
	case *Map:
		return v.Clone()
	case []any:
		c := make([]any, len(v))
		for k := range v {
			c[k] = clone(v[k])
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
			sub, ok := m.child(key)
			if !ok {
				sub = NewMap()
				m.Set(key, sub)
			}
			sub.Merge(v)
		default:
			m.Set(key, clone(v))
		}
	}
	m.deleteAll(gone)
}

// deleteAll deletes many keys in a single pass.
func (m *Map) deleteAll(gone map[string]bool) {
	if len(gone) == 0 {
		return
	}
	m.entries = slices.DeleteFunc(m.entries, func(e entry) bool { return gone[e.key] })
	m.reindex()
}

// child returns the mapping under key, and false for other values.
func (m *Map) child(key string) (*Map, bool) {
	v, _ := m.Get(key)
	sub, ok := v.(*Map)
	return sub, ok && sub != nil
}

// Equal reports whether two document values are equal, including key order.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case *Map:
		b, ok := b.(*Map)
		return ok && a.equal(b)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Equal)
	case nil, bool, string, Number:
		return a == b
	}
	return false
}

func (m *Map) equal(b *Map) bool {
	if m.Len() != b.Len() {
		return false
	}
	for k := range m.Len() {
		if m.entries[k].key != b.entries[k].key || !Equal(m.entries[k].value, b.entries[k].value) {
			return false
		}
	}
	return true
}
