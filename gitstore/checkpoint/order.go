package checkpoint

import "git-checkpoint/gitstore/checkpoint/document"

// field returns the field of a key.
func (s *schema) field(key string) field {
	if k, ok := s.place[key]; ok {
		return s.fields[k]
	}
	return s.other
}

// ordered returns m with schema keys first, in schema order, at every level. Parts in
// order are not copied.
func (s *schema) ordered(m *Map) *Map {
	out := m
	if !s.inOrder(m) {
		out = document.NewMapSize(m.Len())
		for _, f := range s.fields {
			if k := m.Find(f.name); k >= 0 {
				_, v := m.Entry(k)
				out.Add(f.name, v)
			}
		}
		for k := range m.Len() {
			key, v := m.Entry(k)
			if _, known := s.place[key]; !known {
				out.Add(key, v)
			}
		}
	}
	for k := range out.Len() {
		key, v := out.Entry(k)
		if v := s.field(key).ordered(v); v != nil {
			if out == m {
				out = m.Shallow()
			}
			out.SetEntry(k, v)
		}
	}
	return out
}

// ordered returns the sorted value, or nil if the value is already in order.
func (f field) ordered(v any) any {
	if f.of == nil {
		return nil
	}
	switch v := v.(type) {
	case *Map:
		if m := f.of.ordered(v); m != v {
			return m
		}
	case []any:
		return f.orderedList(v)
	}
	return nil
}

func (f field) orderedList(l []any) any {
	var out []any
	for k := range l {
		m, ok := l[k].(*Map)
		if !ok {
			continue
		}
		if in := f.of.ordered(m); in != m {
			if out == nil {
				out = append([]any(nil), l...)
			}
			out[k] = in
		}
	}
	if out == nil {
		return nil
	}
	return out
}

// inOrder reports whether the keys of m have schema order.
func (s *schema) inOrder(m *Map) bool {
	last := -1
	for k := range m.Len() {
		key, _ := m.Entry(k)
		at, ok := s.place[key]
		if !ok {
			at = len(s.fields)
		}
		if at < last {
			return false
		}
		last = at
	}
	return true
}
