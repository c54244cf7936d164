package checkpoint

import (
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint/document"
)

// Problem is a finding of Validate. A warning does not make a record invalid.
type Problem struct {
	Path, Msg string
	Warning   bool
}

func (p Problem) String() string { return p.Path + ": " + p.Msg }

// Permitted words of fields. Callers can add phases.
var (
	knownPhases = []string{
		"enrich", "ready", "implementing", "validation", "docs",
		"e2e", "backlog", "ready-to-merge", "done",
	}
	nodeStatuses = []string{"pending", "queued", "running", "complete", "failed", "skipped"}
	fileStatuses = []string{
		"added", "modified", "deleted", "renamed", "copied", "typechange", "untracked", "conflicted",
	}
	issueStates = []string{"open", "closed"}
)

var (
	graphID   = document.Pattern(`^GRAPH-\S+$`)
	messageID = document.Pattern(`^MSG-[0-9]{13}-[0-9a-f]{8}$`)
)

// Validate returns schema violations, and as warnings suspicious but readable values. The
// caller passes additional phases.
func (r *Record) Validate(phases ...string) []Problem {
	v := &validator{r: r, phases: append(slices.Clone(knownPhases), phases...)}
	v.names()
	recordSchema.walk(r.doc, "", v.field)
	v.workflow()
	v.graph()
	v.messages()
	v.files()
	v.snapshot()
	v.progress()
	return v.found
}

type validator struct {
	r                *Record
	phases           []string
	found            []Problem
	errors, warnings int
}

// maxProblems limits errors and warnings separately, because a hostile record can have a
// million.
const maxProblems = 1000

func (v *validator) fail(path, format string, args ...any) {
	if v.errors++; v.errors <= maxProblems {
		v.found = append(v.found, Problem{Path: path, Msg: fmt.Sprintf(format, args...)})
	}
}

func (v *validator) warn(path, format string, args ...any) {
	if v.warnings++; v.warnings <= maxProblems {
		v.found = append(v.found, Problem{path, fmt.Sprintf(format, args...), true})
	}
}

// failIf reports a non-nil error at path.
func (v *validator) failIf(path string, err error) {
	if err != nil {
		v.fail(path, "%v", err)
	}
}

// oneOf reports a word outside the known words.
func (v *validator) oneOf(path, word string, known []string, report func(path, format string, args ...any)) {
	if word != "" && !slices.Contains(known, word) {
		report(path, "%.40q is none of %s", word, strings.Join(known, ", "))
	}
}

// names checks ids, version, time and trigger.
func (v *validator) names() {
	id := v.r.ID()
	if _, err := ParseID(string(id)); err != nil {
		v.failIf("checkpoint_id", err)
	} else if !id.Own() {
		v.warn("checkpoint_id", "%q is not of the form CP-<phase>-<time>-<hex>", id)
	}
	if v.r.Version() == "" {
		v.warn("version", "missing, taken as %s", Version)
	}
	if at, _ := v.r.doc.Get("created_at"); at == nil {
		v.fail("created_at", "missing")
	}
	_, err := ParseIssue(string(v.r.Issue()))
	v.failIf("issue_number", err)
	v.trigger()
}

func (v *validator) trigger() {
	t := v.r.Trigger()
	if t == "" {
		v.warn("trigger", "missing")
		return
	}
	if _, err := ParseTrigger(string(t)); err != nil {
		v.failIf("trigger", err)
	} else if !t.Known() {
		v.warn("trigger", "%q is not known: retention keeps it forever", t)
	}
}

// field checks a value by its kind.
func (v *validator) field(f field, path string, value any) {
	switch f.kind {
	case timeKind:
		m, err := ReadTime(value)
		if v.failIf(path, err); err == nil && !m.Zoned {
			v.warn(path, "%q has no time zone, taken as UTC", document.AsText(value))
		}
	case intKind:
		if s, ok := value.(string); ok {
			v.warn(path, "%q is a number written as text", s)
		}
		if n, ok := Number(document.AsText(value)).Int(); !ok || n < 0 {
			v.fail(path, "want an integer that is not negative, got %s", document.AsText(value))
		}
	}
}

// walk calls visit for each field with a value.
func (s *schema) walk(m *Map, path string, visit func(f field, path string, v any)) {
	for k := range m.Len() {
		key, v := m.Entry(k)
		s.field(key).walk(document.JoinPath(path, key), v, visit)
	}
}

func (f field) walk(path string, v any, visit func(f field, path string, v any)) {
	if v == nil {
		return
	}
	visit(f, path, v)
	if m, ok := v.(*Map); ok && f.of != nil {
		f.of.walk(m, path, visit)
	}
	l, _ := v.([]any)
	element := field{of: f.of}
	if f.kind == intsKind {
		element.kind = intKind
	}
	for k := range l {
		if element.of != nil || element.kind != anyKind {
			element.walk(document.JoinIndex(path, k), l[k], visit)
		}
	}
}
