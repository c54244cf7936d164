package codec

import (
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
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

// Checker collects rule violations of a document.
type Checker struct {
	Doc   *checkpoint.Map
	file  string // base name, "" without a file
	found []Problem
}

func (c *Checker) Add(warning bool, path, rule, format string, args ...any) {
	if len(c.found) < maxProblems {
		c.found = append(c.found, Problem{Path: path, Rule: rule, Msg: fmt.Sprintf(format, args...), Warning: warning})
	}
}

func (c *Checker) Fail(path, rule, format string, args ...any) {
	c.Add(false, path, rule, format, args...)
}

func (c *Checker) Warn(path, rule, format string, args ...any) {
	c.Add(true, path, rule, format, args...)
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

// Required reports missing, null and empty values.
func (c *Checker) Required(keys ...string) {
	for _, key := range keys {
		v, ok := c.Doc.Get(key)
		switch {
		case !ok:
			c.Fail(key, "required", "missing")
		case v == nil, v == "":
			c.Fail(key, "required", "empty")
		}
	}
}

// Shown formats a value for a message.
func Shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprint(v)
	case checkpoint.Number:
		return fmt.Sprintf("%.40s", string(v))
	case string:
		return fmt.Sprintf("%.60q", v)
	case []any:
		return "a list"
	}
	return "a mapping"
}

// Given returns the value at a path, and false if it is missing or null.
func (c *Checker) Given(path string) (any, bool) {
	v, ok := c.Doc.Lookup(path)
	return v, ok && v != nil
}

// Text reports values that are neither text nor number.
func (c *Checker) Text(paths ...string) {
	for _, p := range paths {
		if v, ok := c.Given(p); ok && values.AsText(v) == "" && v != "" {
			c.Fail(p, "kind", "want text, got %s", Shown(v))
		}
	}
}

// Number reports a value that is not a number between lo and hi. A number written as text
// is a warning.
func (c *Checker) Number(path string, lo, hi float64, whole bool) {
	v, ok := c.Given(path)
	if !ok {
		return
	}
	n, isNumber := v.(checkpoint.Number)
	if s, ok := v.(string); ok {
		if n, isNumber = checkpoint.ParseValue(s).(checkpoint.Number); isNumber {
			c.Warn(path, "kind", "%q is a number written as text", s)
		}
	}
	_, isInt := n.Int()
	switch f := n.Float(); {
	case !isNumber && whole:
		c.Fail(path, "kind", "want an integer, got %s", Shown(v))
	case !isNumber:
		c.Fail(path, "kind", "want a number, got %s", Shown(v))
	case whole && !isInt:
		c.Fail(path, "kind", "want an integer, got %s", n)
	case f >= lo && f <= hi:
	case hi >= AnyNumber:
		c.Fail(path, "range", "want at least %g, got %s", lo, n)
	default:
		c.Fail(path, "range", "want %g to %g, got %s", lo, hi, n)
	}
}

// AnyNumber is the upper limit of an unlimited range.
const AnyNumber = 1e300

// OneOf reports a value outside the known values.
func (c *Checker) OneOf(path string, known ...string) {
	if v, ok := c.Given(path); ok && !slices.Contains(known, values.AsText(v)) {
		c.Fail(path, "enum", "want one of %s, got %s", strings.Join(known, ", "), Shown(v))
	}
}

// Status reports an unknown status. Another word for a status is a warning.
func (c *Checker) Status(path string, known ...string) {
	v, ok := c.Given(path)
	switch word := values.AsText(v); {
	case !ok || slices.Contains(known, word) || workflow.StatusOf(word) == word && word != "":
	case workflow.StatusOf(word) != "":
		c.Warn(path, "enum", "%s is read as %s", Shown(v), workflow.StatusOf(word))
	default:
		c.Fail(path, "enum", "want one of %s, got %s", strings.Join(known, ", "), Shown(v))
	}
}

// Time reports a value that is not a time. A time without a time zone is a warning.
func (c *Checker) Time(paths ...string) {
	for _, p := range paths {
		v, ok := c.Given(p)
		if !ok || v == "" {
			continue
		}
		switch m, err := checkpoint.ReadTime(v); {
		case err != nil:
			c.Fail(p, "time", "want a time, got %s", Shown(v))
		case !m.Zoned:
			c.Warn(p, "time", "%s has no time zone, taken as UTC", Shown(v))
		}
	}
}

// Texts reports a value that is not a list of texts. Duplicates are warnings.
func (c *Checker) Texts(paths ...string) {
	for _, p := range paths {
		l, ok := c.List(p)
		if !ok {
			continue
		}
		seen := map[string]bool{}
		for i, e := range l {
			s := values.AsText(e)
			if s == "" {
				c.Fail(checkpoint.PathOf(p, i), "kind", "want text, got %s", Shown(e))
			} else if seen[s] {
				c.Warn(checkpoint.PathOf(p, i), "consistency", "%.60q is a duplicate", s)
			}
			seen[s] = true
		}
	}
}

// List returns the list at a path, and reports other values.
func (c *Checker) List(path string) ([]any, bool) { return given[[]any](c, path, "a list") }

// Mapping returns the mapping at a path, and reports other values.
func (c *Checker) Mapping(path string) (*checkpoint.Map, bool) {
	return given[*checkpoint.Map](c, path, "a mapping")
}

// Bool returns the truth value at a path, and reports other values.
func (c *Checker) Bool(path string) (value, ok bool) { return given[bool](c, path, "true or false") }

func given[T any](c *Checker, path, want string) (found T, ok bool) {
	v, ok := c.Given(path)
	if !ok {
		return found, false
	}
	if found, ok = v.(T); !ok {
		c.Fail(path, "kind", "want %s, got %s", want, Shown(v))
	}
	return found, ok
}

// Local warns about absolute paths.
func (c *Checker) Local(paths ...string) {
	for _, p := range paths {
		if v, ok := c.Given(p); ok && values.Absolute(values.AsText(v)) {
			c.Warn(p, "place", "%s is a path of a single machine", Shown(v))
		}
	}
}

// Named warns if the file name differs from the id. The name latest is permitted, as a
// link or copy of the newest file.
func (c *Checker) Named(want string) {
	base := c.file
	for _, ext := range []string{".json", ".yaml", ".yml"} {
		base = strings.TrimSuffix(base, ext)
	}
	if c.file != "" && base != "latest" && want != "" && base != want {
		c.Warn("", "name", "the file name is %.80q, its id is %.80q", base, want)
	}
}

// maxReplans is the limit of replans per phase.
const maxReplans = 2

// Phase reports a value that is not a phase. Names, and numbers as text, are warnings.
func (c *Checker) Phase(path string) {
	v, ok := c.Given(path)
	if !ok {
		return
	}
	switch n, isInt := checkpoint.Number(values.AsText(v)).Int(); {
	case values.AsText(v) == "":
		c.Fail(path, "kind", "want a phase, got %s", Shown(v))
	case isInt && n < 0:
		c.Fail(path, "range", "want at least 0, got %d", n)
	case isInt:
		if _, isText := v.(string); isText {
			c.Warn(path, "kind", "%s is a number written as text", Shown(v))
		}
	default:
		c.Warn(path, "kind", "%s is read as a phase's name", Shown(v))
	}
}

// Phases checks a list of phases.
func (c *Checker) Phases(path string) {
	if m, isMap := values.Get(c.Doc, path).(*checkpoint.Map); isMap {
		if _, ok := workflow.PhaseStates(m, workflow.Completed); !ok {
			c.Fail(path, "kind", "want a list of phases, or a mapping of phases to their states")
		}
		return
	}
	l, ok := c.List(path)
	seen := map[string]bool{}
	for i := range l {
		p := workflow.PhaseName(l[i])
		switch {
		case !ok:
		case p == "":
			c.Fail(checkpoint.PathOf(path, i), "kind", "want a phase, got %s", Shown(l[i]))
		case seen[p]:
			c.Warn(checkpoint.PathOf(path, i), "consistency", "phase %.40s is a duplicate", p)
		}
		seen[p] = true
	}
}

// Progress warns about values that look like progress and are not read.
func (c *Checker) Progress() {
	_, unread := workflow.ReadProgress(c.Doc)
	for _, key := range unread {
		c.Warn(checkpoint.PathOf("", key), "progress", "kept, but its progress is not read")
	}
}

// Replans compares the replan counts with the history. The counts have three possible
// keys.
func (c *Checker) Replans() {
	history, ok := c.List("replan_history")
	counts := map[string]int{}
	for i, e := range history {
		m, isMap := e.(*checkpoint.Map)
		if !isMap {
			c.Fail(checkpoint.PathOf("replan_history", i), "kind", "want a mapping, got %s", Shown(e))
			continue
		}
		counts[workflow.PhaseName(values.Get(m, "phase"))]++
		c.Time(checkpoint.PathOf("replan_history", i) + ".timestamp")
	}
	for phase, n := range counts {
		if n > maxReplans {
			c.Warn("replan_history", "consistency", "phase %.40s was replanned %d times, the limit is %d", phase, n, maxReplans)
		}
	}
	for _, name := range []string{"replan_count", "replan_phase_counts", "phase_replan_count"} {
		said, isMap := c.Mapping(name)
		if !ok || !isMap {
			continue
		}
		for phase, v := range said.All() {
			if n, isInt := checkpoint.Number(values.AsText(v)).Int(); !isInt || int(n) != counts[workflow.PhaseName(phase)] {
				c.Warn(checkpoint.PathOf(name, phase), "consistency", "%s, but the history has %d", Shown(v), counts[workflow.PhaseName(phase)])
			}
		}
	}
}
