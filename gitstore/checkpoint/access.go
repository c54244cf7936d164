package checkpoint

// Sub returns the mapping under key, nil if there is none.
func (m *Map) Sub(key string) *Map {
	sub, _ := m.child(key)
	return sub
}

// MustSub returns the mapping under key, made in place of what is none.
func (m *Map) MustSub(key string) *Map {
	sub, ok := m.child(key)
	if !ok {
		sub = NewMap()
		m.Set(key, sub)
	}
	return sub
}

// Text returns the text under key, or the number as it is written, else "".
func (m *Map) Text(key string) string { return text(m, key) }

// Texts returns the texts of the list under key.
func (m *Map) Texts(key string) []string { return texts(m, key) }
