package checkpoint

import (
	"fmt"
	"slices"
	"strconv"

	"git-checkpoint/gitstore/checkpoint/document"
)

// typeError reports a value of the wrong kind and its path.
type typeError struct {
	path []document.Step
	msg  string
}

// check checks the kinds of all values in m. The path is built only after an error, in
// reverse order.
func (s *schema) check(m *Map) *typeError {
	for k := range m.Len() {
		key, v := m.Entry(k)
		if err := s.field(key).check(v); err != nil {
			err.path = append(err.path, document.Step{Key: key})
			return err
		}
	}
	return nil
}

func (f field) check(v any) *typeError {
	if v == nil {
		return nil
	}
	switch f.kind {
	case anyKind:
		return nil
	case textKind, timeKind, versionKind:
		return want(isText(v), "text", v)
	case intKind:
		return want(isInteger(v), "an integer", v)
	case boolKind:
		_, ok := v.(bool)
		return want(ok, "true or false", v)
	case mapKind:
		return f.checkMap(v)
	}
	return f.checkList(v)
}

func want(ok bool, what string, v any) *typeError {
	if ok {
		return nil
	}
	return &typeError{msg: fmt.Sprintf("want %s, got %s", what, document.KindOf(v))}
}

func isText(v any) bool {
	switch v.(type) {
	case string, Number:
		return true
	}
	return false
}

// isInteger also accepts an integer written as text, which occurs in real files.
func isInteger(v any) bool {
	_, ok := Number(document.AsText(v)).Int()
	return ok
}

func (f field) checkMap(v any) *typeError {
	m, ok := v.(*Map)
	if !ok || f.of == nil {
		return want(ok, "a mapping", v)
	}
	return f.of.check(m)
}

// checkList checks every element of a list.
func (f field) checkList(v any) *typeError {
	l, ok := v.([]any)
	if !ok {
		return want(false, "a list", v)
	}
	element := field{of: f.of}
	switch f.kind {
	case textsKind:
		element.kind = textKind
	case intsKind:
		element.kind = intKind
	case mapsKind:
		element.kind = mapKind
	}
	for k := range l {
		err := element.check(l[k])
		if l[k] == nil && element.kind != anyKind {
			err = want(false, "no empty element", l[k])
		}
		if err != nil {
			err.path = append(err.path, document.Step{Key: strconv.Itoa(k), Index: true})
			return err
		}
	}
	return nil
}

// Check returns a *SyntaxError without a position if a schema field has a value of the
// wrong kind. Merges and assignments can cause such values.
func (r *Record) Check() error {
	if err := recordSchema.check(r.doc); err != nil {
		slices.Reverse(err.path)
		return &SyntaxError{Path: pathText(err.path), Msg: err.msg}
	}
	return nil
}

// at returns the error with its position in the text.
func (e *typeError) at(d document.Parsed) error {
	slices.Reverse(e.path)
	line, column := d.Where(e.path)
	return &SyntaxError{Line: line, Column: column, Path: pathText(e.path), Msg: e.msg}
}

func pathText(path []document.Step) string {
	s := ""
	for _, p := range path {
		if p.Index {
			s += "[" + p.Key + "]"
			continue
		}
		s = document.JoinPath(s, p.Key)
	}
	return s
}
