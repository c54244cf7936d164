package layout

import (
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// Problem is a violation of a layout's rules. Rule is a single word for the type of rule:
// required, kind, range, enum, time, form, order, consistency, place, version or name.
// Line and Column are 0 if no position is known. A warning does not make the document
// invalid.
type Problem struct {
	Path, Rule, Msg string
	Line, Column    int
	Warning         bool
}

func (p Problem) String() string {
	s := fmt.Sprintf("%s: %s (%s)", p.Path, p.Msg, p.Rule)
	if p.Path == "" {
		s = fmt.Sprintf("%s (%s)", p.Msg, p.Rule)
	}
	if p.Line > 0 {
		s = fmt.Sprintf("line %d, column %d: %s", p.Line, p.Column, s)
	}
	return s
}

// Limits for problems and positions. A hostile document can violate a rule a million
// times, and each position requires another parse.
const (
	maxProblems = 200
	maxPlaces   = 20
	maxPlaced   = 4 << 20 // number of bytes that may still be read
)

// checker collects rule violations of a document.
type checker struct {
	doc   *object
	file  string // base name, "" without a file
	found []Problem
}

func (c *checker) add(warning bool, path, rule, format string, args ...any) {
	if len(c.found) < maxProblems {
		c.found = append(c.found, Problem{Path: path, Rule: rule, Msg: fmt.Sprintf(format, args...), Warning: warning})
	}
}

func (c *checker) fail(path, rule, format string, args ...any) {
	c.add(false, path, rule, format, args...)
}

func (c *checker) warn(path, rule, format string, args ...any) {
	c.add(true, path, rule, format, args...)
}

// place sets the lines and columns of problems.
func place(found []Problem, data []byte) {
	if len(data) > maxPlaced {
		return
	}
	for i := range found[:min(len(found), maxPlaces)] {
		if found[i].Path != "" {
			found[i].Line, found[i].Column = checkpoint.Position(data, found[i].Path)
		}
	}
}

// required reports missing, null and empty values.
func (c *checker) required(keys ...string) {
	for _, key := range keys {
		v, ok := c.doc.Get(key)
		switch {
		case !ok:
			c.fail(key, "required", "missing")
		case v == nil, v == "":
			c.fail(key, "required", "empty")
		}
	}
}

// shown formats a value for a message.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprint(v)
	case number:
		return fmt.Sprintf("%.40s", string(v))
	case string:
		return fmt.Sprintf("%.60q", v)
	case []any:
		return "a list"
	}
	return "a mapping"
}

// given returns the value at a path, and false if it is missing or null.
func (c *checker) given(path string) (any, bool) {
	v, ok := c.doc.Lookup(path)
	return v, ok && v != nil
}

// text reports values that are neither text nor number.
func (c *checker) text(paths ...string) {
	for _, p := range paths {
		if v, ok := c.given(p); ok && textOf(v) == "" && v != "" {
			c.fail(p, "kind", "want text, got %s", shown(v))
		}
	}
}

// number reports a value that is not a number between lo and hi. A number written as text
// is a warning.
func (c *checker) number(path string, lo, hi float64, whole bool) {
	v, ok := c.given(path)
	if !ok {
		return
	}
	n, isNumber := v.(number)
	if s, ok := v.(string); ok {
		if n, isNumber = checkpoint.ParseValue(s).(number); isNumber {
			c.warn(path, "kind", "%q is a number written as text", s)
		}
	}
	_, isInt := n.Int()
	switch f := n.Float(); {
	case !isNumber && whole:
		c.fail(path, "kind", "want an integer, got %s", shown(v))
	case !isNumber:
		c.fail(path, "kind", "want a number, got %s", shown(v))
	case whole && !isInt:
		c.fail(path, "kind", "want an integer, got %s", n)
	case f < lo || f > hi:
		c.fail(path, "range", "want %s, got %s", interval(lo, hi), n)
	}
}

// anyNumber is the upper limit of an unlimited range.
const anyNumber = 1e300

func interval(lo, hi float64) string {
	if hi >= anyNumber {
		return fmt.Sprintf("at least %g", lo)
	}
	return fmt.Sprintf("%g to %g", lo, hi)
}

// oneOf reports a value outside the known values.
func (c *checker) oneOf(path string, known ...string) {
	if v, ok := c.given(path); ok && !slices.Contains(known, textOf(v)) {
		c.fail(path, "enum", "want one of %s, got %s", strings.Join(known, ", "), shown(v))
	}
}

// status reports an unknown status. A status of another system is a warning.
func (c *checker) status(path string, known ...string) {
	v, ok := c.given(path)
	switch word := textOf(v); {
	case !ok || slices.Contains(known, word):
	case statusOf(word) != "":
		c.warn(path, "enum", "%s is read as %s", shown(v), statusOf(word))
	default:
		c.fail(path, "enum", "want one of %s, got %s", strings.Join(known, ", "), shown(v))
	}
}

// time reports a value that is not a time. A time without a time zone is a warning.
func (c *checker) time(paths ...string) {
	for _, p := range paths {
		v, ok := c.given(p)
		if !ok || v == "" {
			continue
		}
		switch m, err := checkpoint.ReadTime(v); {
		case err != nil:
			c.fail(p, "time", "want a time, got %s", shown(v))
		case !m.Zoned:
			c.warn(p, "time", "%s has no time zone, taken as UTC", shown(v))
		}
	}
}

// texts reports a value that is not a list of texts. Duplicates are warnings.
func (c *checker) texts(paths ...string) {
	for _, p := range paths {
		l, ok := c.list(p)
		if !ok {
			continue
		}
		seen := map[string]bool{}
		for i, e := range l {
			s := textOf(e)
			if s == "" {
				c.fail(checkpoint.PathOf(p, i), "kind", "want text, got %s", shown(e))
			} else if seen[s] {
				c.warn(checkpoint.PathOf(p, i), "consistency", "%.60q is there twice", s)
			}
			seen[s] = true
		}
	}
}

// list returns the list at a path, and reports other values.
func (c *checker) list(path string) ([]any, bool) {
	v, ok := c.given(path)
	if !ok {
		return nil, false
	}
	l, isList := v.([]any)
	if !isList {
		c.fail(path, "kind", "want a list, got %s", shown(v))
	}
	return l, isList
}

// mapping returns the mapping at a path, and reports other values.
func (c *checker) mapping(path string) (*object, bool) {
	v, ok := c.given(path)
	if !ok {
		return nil, false
	}
	m, isMap := v.(*object)
	if !isMap {
		c.fail(path, "kind", "want a mapping, got %s", shown(v))
	}
	return m, isMap
}

// local warns about absolute paths.
func (c *checker) local(paths ...string) {
	for _, p := range paths {
		if v, ok := c.given(p); ok && absolute(textOf(v)) {
			c.warn(p, "place", "%s is a path of one machine", shown(v))
		}
	}
}

// named warns if the file name differs from the id. The name latest is permitted, as a
// link or copy of the newest file.
func (c *checker) named(want string) {
	base := c.file
	for _, ext := range []string{".json", ".yaml", ".yml"} {
		base = strings.TrimSuffix(base, ext)
	}
	if c.file != "" && base != "latest" && want != "" && base != want {
		c.warn("", "name", "the file is called %.80q, its id is %.80q", base, want)
	}
}
