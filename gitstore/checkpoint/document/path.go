package document

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Step is a key of a path. A step in brackets is always an index.
type Step struct {
	Key   string
	Index bool
}

var errPath = errors.New("want keys joined by dots, like a.b[0].\"c.d\"")

// maxSteps limits the length of a path. No document is deeper.
const maxSteps = 100

// ParsePath splits a path into steps. A key with a dot or bracket is written in double
// quotes, with '\' before '"' and '\'.
func ParsePath(path string) ([]Step, error) {
	var steps []Step
	for rest := path; ; {
		s, tail, err := nextStep(rest)
		if err != nil || len(steps) >= maxSteps || tail != "" && tail[0] != '.' && tail[0] != '[' {
			return nil, fmt.Errorf("path %.80q: %w", path, errPath)
		}
		if steps = append(steps, s); tail == "" {
			return steps, nil
		}
		rest = strings.TrimPrefix(tail, ".")
	}
}

// Lookup returns the value at a path like "workflow_state.current_phase",
// "files_modified[0].path" or "files_modified.0.path". It returns false if the path is
// invalid.
func (m *Map) Lookup(path string) (any, bool) {
	steps, err := ParsePath(path)
	if err != nil {
		return nil, false
	}
	return m.follow(steps)
}

func (m *Map) follow(steps []Step) (v any, ok bool) {
	v, ok = m, true
	for k := 0; ok && k < len(steps); k++ {
		v, ok = steps[k].in(v)
	}
	return v, ok
}

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

// Position returns the line and column, from 1, of the value at a path in a document that
// DecodeTolerant accepts. If the path does not exist, Position returns the position of
// the deepest existing value on the path. For an invalid document or path it returns 0,
// 0.
func Position(data []byte, path string) (line, column int) {
	d, err := Decode(data, DefaultLimits, func(int, int, string) {})
	if err != nil {
		return 0, 0
	}
	steps, err := ParsePath(path)
	if err != nil {
		return 0, 0
	}
	for ; len(steps) > 0; steps = steps[:len(steps)-1] {
		if _, ok := d.Root.follow(steps); ok {
			return d.Where(steps)
		}
	}
	return 1, 1
}

// PathOf returns the path of a key, or of an element if key is an int, below parent in
// the syntax of ParsePath.
func PathOf(parent string, key any) string {
	if k, ok := key.(int); ok {
		return parent + "[" + strconv.Itoa(k) + "]"
	}
	name := AsText(key)
	if name == "" || strings.ContainsAny(name, ".[\"") {
		name = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
	}
	if parent == "" {
		return name
	}
	return parent + "." + name
}

// nextStep returns the first step of s and the remaining text.
func nextStep(s string) (Step, string, error) {
	switch {
	case strings.HasPrefix(s, "["):
		end := strings.IndexByte(s, ']')
		if end < 0 || !isIndex(s[1:end]) {
			return Step{}, "", errPath
		}
		return Step{s[1:end], true}, s[end+1:], nil
	case strings.HasPrefix(s, `"`):
		return quotedStep(s)
	}
	end := strings.IndexAny(s, ".[")
	if end < 0 {
		end = len(s)
	}
	if end == 0 {
		return Step{}, "", errPath
	}
	return Step{Key: s[:end]}, s[end:], nil
}

func isIndex(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 0 && strconv.Itoa(n) == s
}

func quotedStep(s string) (Step, string, error) {
	var b strings.Builder
	for k := 1; k < len(s); k++ {
		switch {
		case s[k] == '"':
			return Step{Key: b.String()}, s[k+1:], nil
		case s[k] == '\\' && k+1 < len(s):
			k++
		}
		b.WriteByte(s[k])
	}
	return Step{}, "", errPath
}

// in returns the value of the step in v.
func (s Step) in(v any) (any, bool) {
	switch v := v.(type) {
	case *Map:
		if !s.Index {
			return v.Get(s.Key)
		}
	case []any:
		if k, ok := s.indexIn(len(v)); ok {
			return v[k], true
		}
	}
	return nil, false
}

// indexIn returns the index for a list of n elements.
func (s Step) indexIn(n int) (int, bool) {
	if !isIndex(s.Key) {
		return 0, false
	}
	k, _ := strconv.Atoi(s.Key)
	return k, k < n
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
	return nil, fmt.Errorf("%q: a parent is a scalar", s.Key)
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
