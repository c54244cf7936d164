package checkpoint

import (
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint/document"
)

// Progress is the state of a workflow's phases. Phases are texts, because real phases
// include "3", "4b" and names.
type Progress struct {
	Current   string
	Completed []string
	Skipped   []string
	Total     int
	Names     []string
	Remaining []string
}

// Progress returns the progress section. If remaining is absent, it is derived from names
// or total.
func (r *Record) Progress() Progress {
	m := r.section("progress")
	p := Progress{
		Current:   document.TextOf(m, "current"),
		Completed: document.TextsOf(m, "completed"),
		Skipped:   textOrList(m, "skipped"),
		Total:     int(integer(m, "total")),
		Names:     document.TextsOf(m, "names"),
		Remaining: document.TextsOf(m, "remaining"),
	}
	if p.Total == 0 {
		p.Total = len(p.Names)
	}
	if len(p.Names) == 0 {
		p.number()
	}
	if _, ok := m.Get("remaining"); !ok {
		p.Remaining = p.open()
	}
	return p
}

// number normalizes the numbers of unnamed phases, because some programs write 1.0 for 1.
func (p *Progress) number() {
	p.Current = wholeNumber(p.Current)
	for _, list := range [][]string{p.Completed, p.Skipped, p.Remaining} {
		for i := range list {
			list[i] = wholeNumber(list[i])
		}
	}
}

// wholeNumber returns "1" for "1.0", and other texts unchanged.
func wholeNumber(s string) string {
	n, fraction, _ := strings.Cut(s, ".")
	if fraction == "" || strings.Trim(fraction, "0") != "" {
		return s
	}
	if _, err := strconv.Atoi(n); err != nil {
		return s
	}
	return n
}

// maxPhases limits the list derived from a total.
const maxPhases = 1000

// Over reports whether a phase is completed or skipped.
func (p Progress) Over(phase string) bool {
	return slices.Contains(p.Completed, phase) || slices.Contains(p.Skipped, phase)
}

// open returns the phases that are neither completed nor skipped.
func (p Progress) open() []string {
	all := p.Names
	if len(all) == 0 {
		for n := range min(max(p.Total, 0), maxPhases) {
			all = append(all, strconv.Itoa(n+1))
		}
	}
	done := map[string]bool{}
	for _, name := range slices.Concat(p.Completed, p.Skipped) {
		done[name] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return done[name] })
}

// SetProgress replaces the progress section, except unknown keys.
func (r *Record) SetProgress(p Progress) {
	m := r.mustSection("progress")
	setOrDelete(m, "current", p.Current)
	m.Set("completed", p.Completed)
	setList(m, "skipped", p.Skipped)
	m.Delete("total")
	if p.Total > 0 {
		m.Set("total", p.Total)
	}
	setList(m, "names", p.Names)
	setList(m, "remaining", p.Remaining)
}

// DefaultResumePoint returns the resume point of a record without resume_from. It is, in
// order of precedence: the first unfinished task of the current batch, the next phase,
// the first unfinished task, or the current phase. It is "" if the record has no such
// value, or if all phases are over.
func (r *Record) DefaultResumePoint() string {
	if n := r.CurrentBatch(); n > 0 {
		return "batch_" + strconv.Itoa(n) + "_task_" + strconv.Itoa(r.openTask(n))
	}
	if p := r.Progress(); len(p.Remaining) > 0 {
		return "phase_" + p.Remaining[0]
	}
	if id := r.remainingTask(); id != "" {
		return id
	}
	if phase := r.Phase(); phase != "" && r.Progress().Total == 0 {
		return "phase_" + phase
	}
	return ""
}

// openTask returns the number, from 1, of the first unfinished task in a batch. If the
// batch has no task list, it returns 1.
func (r *Record) openTask(batch int) int {
	graph := r.section("execution_graph")
	states, _ := graph.Child("node_states")
	for _, b := range mappings(graph, "batches") {
		if integer(b, "batch_id") != int64(batch) {
			continue
		}
		for k, id := range document.TextsOf(b, "tasks") {
			node, _ := states.Child(id)
			if !over(document.TextOf(node, "status")) {
				return k + 1
			}
		}
	}
	return 1
}

// remainingTask returns the id of the first unfinished task, from the tasks section or
// from the graph's nodes.
func (r *Record) remainingTask() string {
	for _, m := range mappings(r.doc, "tasks") {
		if !over(document.TextOf(m, "status")) {
			return document.TextOf(m, "id")
		}
	}
	nodes, _ := r.section("execution_graph").Child("node_states")
	for _, byID := range []*Map{r.section("tasks"), nodes} {
		for id, v := range byID.All() {
			m, ok := v.(*Map)
			if ok && !over(document.TextOf(m, "status")) {
				return id
			}
		}
	}
	return ""
}

func over(status string) bool {
	switch status {
	case "complete", "completed", "done", "skipped":
		return true
	}
	return false
}
