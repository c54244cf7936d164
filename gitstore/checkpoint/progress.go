package checkpoint

import (
	"slices"
	"strconv"
	"strings"
)

// Progress says how far the phases of a workflow are. Phases are text, since
// real ones are "3", "4b" and names.
type Progress struct {
	Current   string
	Completed []string
	Skipped   []string
	Total     int
	Names     []string
	Remaining []string
}

// Progress returns the progress section. Remaining is worked out from the
// names, or from the total, where it is not written.
func (r *Record) Progress() Progress {
	m := r.section("progress")
	p := Progress{
		Current:   text(m, "current"),
		Completed: texts(m, "completed"),
		Skipped:   textOrList(m, "skipped"),
		Total:     int(integer(m, "total")),
		Names:     texts(m, "names"),
		Remaining: texts(m, "remaining"),
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

// number writes the numbers of phases that have no names as whole ones: some
// programs write 1.0 for 1.
func (p *Progress) number() {
	p.Current = wholeNumber(p.Current)
	for _, list := range [][]string{p.Completed, p.Skipped, p.Remaining} {
		for i := range list {
			list[i] = wholeNumber(list[i])
		}
	}
}

// wholeNumber is "1" for "1.0", and any other text as it is.
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

// maxPhases bounds the list that a total is turned into.
const maxPhases = 1000

// Over reports whether a phase is completed or was skipped.
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

// SetProgress replaces the progress section but for keys it does not know.
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

// DefaultResumePoint returns where to go on when nobody said: the first open
// task of the current batch, else the next phase, else the first task that is
// not done, else the current phase. It is "" when the record knows none, or all
// phases are over.
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

// openTask returns the place, from 1, of the first task of a batch that is
// not over. Without a list of the batch's tasks that is the first.
func (r *Record) openTask(batch int) int {
	graph := r.section("execution_graph")
	states, _ := graph.child("node_states")
	for _, b := range mappings(graph, "batches") {
		if integer(b, "batch_id") != int64(batch) {
			continue
		}
		for k, id := range texts(b, "tasks") {
			node, _ := states.child(id)
			if !over(text(node, "status")) {
				return k + 1
			}
		}
	}
	return 1
}

// remainingTask returns the id of the first task that is not over: of tasks,
// be it a list or a mapping by id, else of the graph's nodes.
func (r *Record) remainingTask() string {
	for _, m := range mappings(r.doc, "tasks") {
		if !over(text(m, "status")) {
			return text(m, "id")
		}
	}
	nodes, _ := r.section("execution_graph").child("node_states")
	for _, byID := range []*Map{r.section("tasks"), nodes} {
		for id, v := range byID.All() {
			m, ok := v.(*Map)
			if ok && !over(text(m, "status")) {
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
