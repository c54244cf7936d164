// Package workflow converts the phases, status words and tasks of other systems into the
// sections of a record, and back. The functions that update a document change only values
// that differ from the record, so that the spelling of equal values is preserved.
package workflow

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/values"
)

// PhaseName returns the phase for 3, "3", "phase_3", "4b", "4.4" or a name.
func PhaseName(v any) string {
	s := values.AsText(v)
	if rest, ok := strings.CutPrefix(s, "phase_"); ok && rest != "" {
		return rest
	}
	return s
}

// Phases returns the completed phases of a value in any shape, without duplicates.
func Phases(v any) []string {
	var out []string
	seen := map[string]bool{}
	l, isList := v.([]any)
	for _, e := range l {
		if p := PhaseOf(e); p != "" && !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	if isList {
		return out
	}
	phases, _ := PhaseStates(v, Completed)
	for _, p := range phases {
		if p.Status == Completed && !seen[p.Name] {
			seen[p.Name] = true
			out = append(out, p.Name)
		}
	}
	return sortedNumbers(out)
}

// SortedPhases returns a list of phases without duplicates. Phases with integer names are
// sorted by number.
func SortedPhases(v any) []string { return sortedNumbers(Phases(v)) }

// sortedNumbers sorts phases by number if all of them are integers.
func sortedNumbers(out []string) []string {
	numbers := make(map[string]int64, len(out))
	for _, p := range out {
		n, ok := checkpoint.Number(p).Int()
		if !ok {
			return out
		}
		numbers[p] = n
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Compare(numbers[a], numbers[b]) })
	return out
}

// PhaseSet returns the phases of a list as a set.
func PhaseSet(v any) map[string]bool {
	set := map[string]bool{}
	for _, p := range Phases(v) {
		set[p] = true
	}
	return set
}

// PhaseOf returns the phase of a list element: a phase, or a mapping with a phase.
func PhaseOf(v any) string {
	if m, ok := v.(*checkpoint.Map); ok {
		v, _ = m.Get("phase")
	}
	return PhaseName(v)
}

// Set replaces the workflow section with alternating keys and texts. Empty texts
// are omitted.
func Set(r *checkpoint.Record, pairs ...string) {
	w := checkpoint.NewMap()
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			w.Set(pairs[i], pairs[i+1])
		}
	}
	r.Doc().Set("workflow", w)
}

// SetPhases replaces the progress section.
func SetPhases(r *checkpoint.Record, current string, done []string, total string) {
	r.Doc().Delete("progress")
	r.SetProgress(checkpoint.Progress{Current: current, Completed: done, Total: phaseTotal(total)})
	r.SetPhase(current)
}

// phaseTotal returns a phase count, clamped to valid values.
func phaseTotal(said string) int {
	n, _ := checkpoint.Number(said).Int()
	return int(min(max(n, 0), 1<<30))
}

// PutProgress sets the phase of a record. If the document has more progress than that, it
// replaces the progress section.
func PutProgress(r *checkpoint.Record, p checkpoint.Progress) {
	if len(p.Completed)+len(p.Skipped)+len(p.Names)+p.Total > 0 {
		r.Doc().Delete("progress")
		r.SetProgress(p)
	}
	r.SetPhase(p.Current)
}

// UpdatePhases updates document phases that differ from the record. Empty keys are
// ignored.
func UpdatePhases(r *checkpoint.Record, m *checkpoint.Map, current, done, total string) {
	p := r.Progress()
	if current != "" && p.Current != "" && PhaseName(values.Get(m, current)) != p.Current {
		m.Set(current, values.Spelled(p.Current))
	}
	if done != "" && !values.SameTexts(Phases(values.Get(m, done)), p.Completed) {
		if byPhase, ok := values.Get(m, done).(*checkpoint.Map); ok {
			updateByPhase(byPhase, p.Completed, r.CreatedAt())
		} else {
			m.Set(done, values.SpelledAll(p.Completed))
		}
	}
	if total != "" && p.Total > 0 && values.Has(values.Sub(r.Doc(), "progress"), "total") {
		if phaseTotal(values.Text(m, total)) != p.Total {
			m.Set(total, p.Total)
		}
	}
}

// updateByPhase makes a mapping by phase have exactly the completed phases. A new phase has the
// form of the others: a word, true or a mapping with its time.
func updateByPhase(m *checkpoint.Map, completed []string, at time.Time) {
	var form any
	for key, v := range m.Clone().All() {
		form = v
		if !slices.Contains(completed, PhaseName(key)) {
			m.Delete(key)
		}
	}
	known := Phases(m)
	for _, phase := range completed {
		if slices.Contains(known, phase) {
			continue
		}
		switch form.(type) {
		case string:
			m.Set(phase, Completed)
		case bool:
			m.Set(phase, true)
		default:
			m.Set(phase, values.NewMap("completed_at", FormatTime(at)))
		}
	}
}

// UpdateStatus updates a status that differs from the record. Synonyms keep their
// spelling.
func UpdateStatus(r *checkpoint.Record, m *checkpoint.Map, key string) {
	s := values.Text(r.Doc(), "workflow.status")
	if s != "" && StatusOf(values.Text(m, key)) != s {
		m.Set(key, s)
	}
}

// UpdateError updates an error that differs from the record.
func UpdateError(r *checkpoint.Record, m *checkpoint.Map, key string) {
	said := values.Text(r.Doc(), "workflow.last_error")
	switch {
	case said == values.Text(m, key):
	case said == "":
		m.Set(key, nil)
	default:
		m.Set(key, said)
	}
}

// Touch sets the modification time if the document has changed.
func Touch(r *checkpoint.Record, was, m *checkpoint.Map, key string) {
	if !checkpoint.Equal(was, m) && !r.CreatedAt().IsZero() {
		m.Set(key, FormatTime(r.CreatedAt()))
	}
}

// FormatTime formats a time like the five systems.
func FormatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// PhaseNumber returns the number of a phase for systems without names: its position among
// the names, otherwise the phase itself.
func PhaseNumber(p checkpoint.Progress, phase string) any {
	if i := slices.Index(p.Names, phase); i >= 0 {
		return i + 1
	}
	if phase == "" {
		return 0
	}
	return values.Spelled(phase)
}

// A Past holds the phase details of a record before a document of the same workflow is
// applied. Documents have fewer details than records: for example, no digests.
type Past struct{ Phases, Progress *checkpoint.Map }

// PastOf returns the past of the document's workflow, empty if the record belongs to
// another workflow.
func PastOf(r *checkpoint.Record, id string) Past {
	if was := values.Text(r.Doc(), "workflow.id"); id == "" || was != id && was != "" {
		return Past{values.NewMap(), values.NewMap()}
	}
	p := values.Sub(r.Doc(), "progress").Clone()
	return Past{values.Sub(p, "phases"), p}
}

// Phase returns the section of a phase in the record, initialized from the past if
// missing.
func (p Past) Phase(r *checkpoint.Record, name string) *checkpoint.Map {
	all := r.Doc().MustSub("progress").MustSub("phases")
	if !values.Has(all, name) {
		known, _ := p.Phases.Get(name)
		if m, ok := known.(*checkpoint.Map); ok && m != nil {
			all.Set(name, m.Clone())
		}
	}
	return all.MustSub(name)
}
