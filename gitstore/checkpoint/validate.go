package checkpoint

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint/document"
)

// Problem is a finding of Validate. A warning does not make a record invalid. Problems of
// different records with the same Kind differ only in indices and values.
type Problem struct {
	Path, Msg string
	Warning   bool
	Kind      string
}

func (p Problem) String() string { return p.Path + ": " + p.Msg }

// Validate returns schema violations, and warnings about suspicious values. The known
// phases are those of the record and phases, the phases of the settings. If both lists are
// empty, the phases of the record's layout are known, or every phase.
func (r *Record) Validate(phases ...string) []Problem {
	v := &validator{r: r, phases: slices.Concat(r.Progress().Names, phases)}
	if len(v.phases) == 0 && r.Layout() == "crunch" {
		v.phases = CrunchPhases()
	}
	v.names()
	recordSchema().walk(r.doc, "", v.field)
	v.phase()
	v.graph()
	v.paths()
	v.progress()
	return v.found
}

type validator struct {
	r                *Record
	phases           []string
	found            []Problem
	errors, warnings int
}

// CrunchPhases returns the phases of the crunch system.
func CrunchPhases() []string {
	return []string{
		"enrich", "ready", "implementing", "validation", "docs",
		"e2e", "backlog", "ready-to-merge", "done",
	}
}

// Permitted words of fields.
var (
	nodeStatuses = []string{"pending", "queued", "running", "complete", "failed", "skipped"}
	fileStatuses = []string{
		"added", "modified", "deleted", "renamed", "copied", "typechange", "untracked", "conflicted",
	}
	issueStates = []string{"open", "closed"}
	scopes      = []string{"whole", "staged", "cut"}
)

// names reports missing names of the checkpoint.
func (v *validator) names() {
	if v.r.ID() == "" {
		ruleID(v, "checkpoint_id", "")
	}
	if v.r.Version() == "" {
		v.warn("version", "missing, taken as %s", Version)
	}
	if at, _ := v.r.doc.Get("created_at"); at == nil {
		v.fail("created_at", "missing")
	}
	if v.r.Issue() == "" {
		ruleIssue(v, "issue_number", "")
	}
	if v.r.Trigger() == "" {
		v.warn("trigger", "missing")
	}
}

// failIf reports a non-nil error at path.
func (v *validator) failIf(path string, err error) {
	if err != nil {
		v.fail(path, "%v", err)
	}
}

// maxProblems limits errors and warnings separately, because a hostile record can have a
// million.
const maxProblems = 1000

func (v *validator) fail(path, format string, args ...any) {
	if v.errors++; v.errors <= maxProblems {
		v.found = append(v.found, Problem{Path: path, Msg: fmt.Sprintf(format, args...), Kind: kindOf(path, format)})
	}
}

func (v *validator) warn(path, format string, args ...any) {
	if v.warnings++; v.warnings <= maxProblems {
		v.found = append(v.found, Problem{path, fmt.Sprintf(format, args...), true, kindOf(path, format)})
	}
}

// kindOf returns the kind of a problem: its path without indices, and its format.
func kindOf(path, format string) string {
	return listIndex().ReplaceAllString(path, "[]") + " " + format
}

var listIndex = document.Pattern(`\[[0-9]+\]`)

// walk calls visit for each field with a value.
func (s *schema) walk(m *Map, path string, visit func(f field, path string, v any)) {
	for key, v := range m.All() {
		s.field(key).walk(document.PathOf(path, key), v, visit)
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
	element := f.element()
	for k := range l {
		if element.of != nil || element.rule != nil || element.kind == intKind {
			element.walk(document.PathOf(path, k), l[k], visit)
		}
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
	if _, list := value.([]any); f.rule != nil && !list {
		if text := document.AsText(value); text != "" {
			f.rule(v, path, text)
		}
	}
}

// A rule reports what is wrong with a text that is not empty. The path is that of the field.
type rule func(v *validator, path, text string)

// ruleID checks an id. Layouts other than crunch have their own form of ids.
func ruleID(v *validator, path, text string) {
	if _, err := ParseID(text); err != nil {
		v.failIf(path, err)
	} else if !ID(text).Own() && slices.Contains([]string{"", "crunch"}, v.r.Layout()) {
		v.warn(path, "%q is not of the form CP-<phase>-<time>-<hex>", text)
	}
}

func ruleIssue(v *validator, path, text string) {
	_, err := ParseIssue(text)
	v.failIf(path, err)
}

func ruleTrigger(v *validator, path, text string) {
	if t, err := ParseTrigger(text); err != nil {
		v.failIf(path, err)
	} else if !t.Known() {
		v.warn(path, "%q is an unknown trigger; retention keeps all its checkpoints", t)
	}
}

// word is the rule of a field that has one of the known words.
func word(known []string, isError bool) rule {
	return func(v *validator, path, text string) {
		report := v.warn
		if isError {
			report = v.fail
		}
		v.oneOf(path, text, known, report)
	}
}

// form is the rule of a field whose texts match an expression.
func form(expression, otherwise string) rule {
	pattern := document.Pattern(expression)
	return func(v *validator, path, text string) {
		if !pattern().MatchString(text) {
			v.warn(path, "%.60q "+otherwise, text)
		}
	}
}

func ruleTurn(v *validator, path, text string) {
	if n, _ := Number(text).Int(); n > math.MaxInt32 {
		v.fail(path, "%s is no number of a turn", text)
	}
}

func rulePath(v *validator, path, text string) {
	_, err := UnquotePath(text)
	v.failIf(path, err)
}

func ruleHash(v *validator, path, text string) {
	name, hex, _ := strings.Cut(text, ":")
	if (name != "sha1" || !isHex(hex, 40, 40)) && (name != "sha256" || !isHex(hex, 64, 64)) {
		v.fail(path, "%.80q is not a commit: want sha1:<hex> or sha256:<hex>", text)
	}
}

// Checks that need more than one field.

func (v *validator) phase() {
	p, as := v.r.Progress(), v.r.Layout()
	counted := p.Total > 0 && len(p.Names) == 0
	if len(v.phases) > 0 && !counted && (as == "" || as == "crunch") { // other layouts define their own phases
		v.oneOf("workflow_state.current_phase", v.r.Phase(), v.phases, v.warn)
	}
}

// oneOf reports a word outside the known words.
func (v *validator) oneOf(path, word string, known []string, report func(path, format string, args ...any)) {
	if word != "" && !slices.Contains(known, word) {
		report(path, "%.40q is not one of %s", word, strings.Join(known, ", "))
	}
}

func (v *validator) graph() {
	done, current := v.r.CompletedBatches(), v.r.CurrentBatch()
	for k, n := range done {
		path := document.PathOf(graph+".completed_batches", k)
		if k > 0 && n <= done[k-1] {
			v.warn(path, "%d after %d: want them ascending", n, done[k-1])
		}
		if current > 0 && n >= current {
			v.warn(path, "%d is completed but the current batch is %d", n, current)
		}
	}
	for id, node := range v.r.doc.Sub(graph).Sub("node_states").All() {
		if m, _ := node.(*Map); m.Text("status") == "" {
			v.fail(document.PathOf(graph+".node_states", id), "no status")
		}
	}
}

// paths reports missing paths.
func (v *validator) paths() {
	check := func(path string, files []*Map) {
		for k, m := range files {
			if m.Text("path") == "" {
				v.fail(document.PathOf(path, k)+".path", "missing")
			}
		}
	}
	check("files_modified", v.r.doc.Maps("files_modified"))
	check("snapshot.skipped", v.r.doc.Sub("snapshot").Maps("skipped"))
}

func (v *validator) progress() {
	p := v.r.Progress()
	if p.Total > 0 && len(p.Completed) > p.Total {
		v.warn("progress.completed", "%d phases are completed of %d", len(p.Completed), p.Total)
	}
	if len(p.Names) == 0 {
		return
	}
	known := map[string]bool{}
	for _, name := range p.Names {
		known[name] = true
	}
	unknown := slices.DeleteFunc(slices.Clone(p.Completed), func(s string) bool { return known[s] })
	if len(unknown) > 0 {
		v.warn("progress.completed", "not among the names: %.200s", strings.Join(unknown, ", "))
	}
}
