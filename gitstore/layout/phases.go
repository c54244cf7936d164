package layout

import (
	"slices"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// maxReplans is how often a phase may be planned anew.
const maxReplans = 2

// phaseName reads a phase: 3, "3", "phase_3", "4b", "4.4" or a name.
func phaseName(v any) string {
	s := textOf(v)
	if rest, ok := strings.CutPrefix(s, "phase_"); ok && rest != "" {
		return rest
	}
	return s
}

// phasesOf reads a list of phases as a set, in its order.
func phasesOf(v any) []string {
	var out []string
	l, _ := v.([]any)
	for _, e := range l {
		if m, ok := e.(*object); ok {
			e, _ = m.Get("phase")
		}
		if p := phaseName(e); p != "" && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// phase reports a value that is no phase; one that is no number is a warning.
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

// phases looks at a list of phases.
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

// replans compares the counts of replans, which have three names, with their
// history.
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

// setWorkflow replaces what the record says of the workflow: keys and texts in
// turn, empty ones left out.
func setWorkflow(r *checkpoint.Record, pairs ...string) {
	w := checkpoint.NewMap()
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			w.Set(pairs[i], pairs[i+1])
		}
	}
	r.Doc().Set("workflow", w)
}

// setPhases replaces the record's progress.
func setPhases(r *checkpoint.Record, current string, done []string, total string) {
	r.Doc().Delete("progress")
	r.SetProgress(checkpoint.Progress{Current: current, Completed: done, Total: phaseTotal(total)})
	r.SetPhase(current)
}

// phaseTotal is a number of phases within what a record holds.
func phaseTotal(said string) int {
	n, _ := number(said).Int()
	return int(min(max(n, 0), 1<<30))
}

// updatePhases changes the phases of a document where the record has others.
// An empty key is none.
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

// updateStatus changes a status where the record has another: the spelling of
// one that means the same stays.
func updateStatus(r *checkpoint.Record, m *object, key string) {
	s := text(r.Doc(), "workflow.status")
	if s != "" && statusOf(text(m, key)) != s {
		m.Set(key, s)
	}
}

// updateError changes the error of a document where the record has another or
// none.
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

// touch notes the time of a change, if there was one.
func touch(r *checkpoint.Record, was, m *object, key string) {
	if !checkpoint.Equal(was, m) && !r.CreatedAt().IsZero() {
		m.Set(key, seconds(r.CreatedAt()))
	}
}

// seconds writes a time the way the five systems do.
func seconds(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// phaseNumber is a phase as the number that systems without names want: its
// place among the names where it is no number itself.
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
