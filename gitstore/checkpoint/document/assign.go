package document

import "fmt"

// Assign sets the value at a path and creates missing mappings and lists. An index equal
// to the length of a list appends an element. A nil value deletes the key or element.
// Assign fails if the path leads through a value that is neither mapping nor list.
func (m *Map) Assign(path string, v any) error {
	steps, err := ParsePath(path)
	if err != nil {
		return err
	}
	if steps[0].Index {
		return fmt.Errorf("path %.80q: the document is a mapping, not a list", path)
	}
	if _, err := assign(m, steps, ValueOf(v)); err != nil {
		return fmt.Errorf("path %.80q: %w", path, err)
	}
	return nil
}

// assign returns the container with the new value, because an append can move a list.
func assign(in any, steps []Step, v any) (any, error) {
	s := steps[0]
	switch in := in.(type) {
	case *Map:
		return assignKey(in, steps, v)
	case []any:
		return assignIndex(in, steps, v)
	case nil:
		if v == nil {
			return nil, nil
		}
		if s.Index {
			return assignIndex(nil, steps, v)
		}
		return assignKey(NewMap(), steps, v)
	}
	return nil, fmt.Errorf("%q: there is a plain value above it", s.Key)
}

func assignKey(m *Map, steps []Step, v any) (any, error) {
	s := steps[0]
	switch {
	case s.Index:
		return nil, fmt.Errorf("[%s]: there is a mapping, not a list", s.Key)
	case len(steps) == 1 && v == nil:
		m.Delete(s.Key)
		return m, nil
	case len(steps) == 1:
		m.Set(s.Key, v)
		return m, nil
	}
	old, had := m.Get(s.Key)
	sub, err := assign(old, steps[1:], v)
	if err == nil && (sub != nil || had) {
		m.Set(s.Key, sub)
	}
	return m, err
}

func assignIndex(l []any, steps []Step, v any) (any, error) {
	k, ok := steps[0].indexIn(len(l) + 1)
	switch {
	case !ok:
		return nil, fmt.Errorf("%q: not an index of a list of %d", steps[0].Key, len(l))
	case k == len(l) && v == nil:
		return l, nil
	case k == len(l):
		l = append(l, nil)
	case len(steps) == 1 && v == nil:
		return append(l[:k:k], l[k+1:]...), nil
	}
	if len(steps) == 1 {
		l[k] = v
		return l, nil
	}
	sub, err := assign(l[k], steps[1:], v)
	if err == nil {
		l[k] = sub
	}
	return l, err
}
