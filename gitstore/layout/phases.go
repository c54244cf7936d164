package layout

import (
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// maxReplans is the limit of replans per phase.
const maxReplans = 2

// phaseName returns the phase for 3, "3", "phase_3", "4b", "4.4" or a name.
func phaseName(v any) string {
	s := textOf(v)
	if rest, ok := strings.CutPrefix(s, "phase_"); ok && rest != "" {
		return rest
	}
	return s
}

// phasesOf returns a list of phases without duplicates.
func phasesOf(v any) []string {
	var out []string
	seen := map[string]bool{}
	l, _ := v.([]any)
	for _, e := range l {
		if p := phaseOf(e); p != "" && !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	return out
}

// phaseSet returns the phases of a list as a set.
func phaseSet(v any) map[string]bool {
	set := map[string]bool{}
	for _, p := range phasesOf(v) {
		set[p] = true
	}
	return set
}

// phaseOf returns the phase of a list element: a phase, or a mapping with a phase.
func phaseOf(v any) string {
	if m, ok := v.(*object); ok {
		v, _ = m.Get("phase")
	}
	return phaseName(v)
}

// phase reports a value that is not a phase. Names, and numbers as text, are warnings.
func (c *checker) phase(path string) {
	v, ok := c.given(path)
	if !ok {
		return
	}
	switch n, isInt := number(textOf(v)).Int(); {
	case textOf(v) == "":
		c.fail(path, "kind", "want a phase, got %s", shown(v))
	case isInt && n < 0:
		c.fail(path, "range", "want at least 0, got %d", n)
	case isInt:
		if _, isText := v.(string); isText {
			c.warn(path, "kind", "%s is a number written as text", shown(v))
		}
	default:
		c.warn(path, "kind", "%s is read as a phase's name", shown(v))
	}
}

// phases checks a list of phases.
func (c *checker) phases(path string) {
	l, ok := c.list(path)
	seen := map[string]bool{}
	for i := range l {
		p := phaseName(l[i])
		switch {
		case !ok:
		case p == "":
			c.fail(checkpoint.PathOf(path, i), "kind", "want a phase, got %s", shown(l[i]))
		case seen[p]:
			c.warn(checkpoint.PathOf(path, i), "consistency", "phase %.40s is there twice", p)
		}
		seen[p] = true
	}
}

// replans compares the replan counts with the history. The counts have three possible
// keys.
func (c *checker) replans() {
	history, ok := c.list("replan_history")
	counts := map[string]int{}
	for i, e := range history {
		m, isMap := e.(*object)
		if !isMap {
			c.fail(checkpoint.PathOf("replan_history", i), "kind", "want a mapping, got %s", shown(e))
			continue
		}
		counts[phaseName(get(m, "phase"))]++
		c.time(checkpoint.PathOf("replan_history", i) + ".timestamp")
	}
	for phase, n := range counts {
		if n > maxReplans {
			c.warn("replan_history", "consistency", "phase %.40s was planned anew %d times, the limit is %d", phase, n, maxReplans)
		}
	}
	for _, name := range []string{"replan_count", "replan_phase_counts", "phase_replan_count"} {
		said, isMap := c.mapping(name)
		if !ok || !isMap {
			continue
		}
		for phase, v := range said.All() {
			if n, isInt := number(textOf(v)).Int(); !isInt || int(n) != counts[phaseName(phase)] {
				c.warn(checkpoint.PathOf(name, phase), "consistency", "%s, but the history has %d", shown(v), counts[phaseName(phase)])
			}
		}
	}
}

// setWorkflow replaces the workflow section with alternating keys and texts. Empty texts
// are omitted.
func setWorkflow(r *checkpoint.Record, pairs ...string) {
	w := checkpoint.NewMap()
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			w.Set(pairs[i], pairs[i+1])
		}
	}
	r.Doc().Set("workflow", w)
}

// setPhases replaces the progress section.
func setPhases(r *checkpoint.Record, current string, done []string, total string) {
	r.Doc().Delete("progress")
	r.SetProgress(checkpoint.Progress{Current: current, Completed: done, Total: phaseTotal(total)})
	r.SetPhase(current)
}

// phaseTotal returns a phase count, clamped to valid values.
func phaseTotal(said string) int {
	n, _ := number(said).Int()
	return int(min(max(n, 0), 1<<30))
}

// updatePhases updates document phases that differ from the record. Empty keys are
// ignored.
func updatePhases(r *checkpoint.Record, m *object, current, done, total string) {
	p := r.Progress()
	if current != "" && p.Current != "" && phaseName(get(m, current)) != p.Current {
		m.Set(current, spelled(p.Current))
	}
	if done != "" && !slices.Equal(sorted(phasesOf(get(m, done))), sorted(p.Completed)) {
		m.Set(done, spelledAll(p.Completed))
	}
	if total != "" && p.Total > 0 {
		if phaseTotal(text(m, total)) != p.Total {
			m.Set(total, p.Total)
		}
	}
}

func sorted(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// updateStatus updates a status that differs from the record. Synonyms keep their
// spelling.
func updateStatus(r *checkpoint.Record, m *object, key string) {
	s := text(r.Doc(), "workflow.status")
	if s != "" && statusOf(text(m, key)) != s {
		m.Set(key, s)
	}
}

// updateError updates an error that differs from the record.
func updateError(r *checkpoint.Record, m *object, key string) {
	said := text(r.Doc(), "workflow.last_error")
	switch {
	case said == text(m, key):
	case said == "":
		m.Set(key, nil)
	default:
		m.Set(key, said)
	}
}

// touch sets the modification time if the document has changed.
func touch(r *checkpoint.Record, was, m *object, key string) {
	if !checkpoint.Equal(was, m) && !r.CreatedAt().IsZero() {
		m.Set(key, seconds(r.CreatedAt()))
	}
}

// seconds formats a time like the five systems.
func seconds(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// phaseNumber returns the number of a phase for systems without names: its position among
// the names, otherwise the phase itself.
func phaseNumber(p checkpoint.Progress, phase string) any {
	if i := slices.Index(p.Names, phase); i >= 0 {
		return i + 1
	}
	if phase == "" {
		return 0
	}
	return spelled(phase)
}

func phaseNumbers(p checkpoint.Progress) []any {
	out := make([]any, len(p.Completed))
	for i, phase := range p.Completed {
		out[i] = phaseNumber(p, phase)
	}
	return out
}
