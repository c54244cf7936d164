package document

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
func (m *Map) Text(key string) string { return TextOf(m, key) }

// Texts returns the texts of the list under key.
func (m *Map) Texts(key string) []string { return TextsOf(m, key) }

// TextOf returns a text or number as text, "" for other values.
func TextOf(m *Map, key string) string {
	v, _ := m.Get(key)
	return AsText(v)
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

func TextsOf(m *Map, key string) []string {
	v, _ := m.Get(key)
	l, _ := v.([]any)
	var out []string
	for _, v := range l {
		if s := AsText(v); s != "" {
			out = append(out, s)
		}
	}
	return out
}
