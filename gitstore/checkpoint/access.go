package checkpoint

// Sub returns the mapping under key, nil if missing.
func (m *Map) Sub(key string) *Map {
	sub, _ := m.child(key)
	return sub
}

// MustSub returns the mapping under key. It creates a new mapping if the key is missing
// or has another value.
func (m *Map) MustSub(key string) *Map {
	sub, ok := m.child(key)
	if !ok {
		sub = NewMap()
		m.Set(key, sub)
	}
	return sub
}

// Text returns the text or number under key as text, "" for other values.
func (m *Map) Text(key string) string { return text(m, key) }

// Texts returns the texts of the list under key.
func (m *Map) Texts(key string) []string { return texts(m, key) }
