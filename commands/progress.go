package commands

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/freshness"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/layout"
)

// A standing is the progress of a record's work, for output.
type standing struct {
	current   string   // phase at which work continues
	completed []string // completed phases
	remaining []string
	batches   []int      // completed batches
	pending   [][]string // open tasks, in batches
	complete  bool       // all phases are completed
	from      string
}

// standingOf returns the progress of a record. Work continues at the first remaining
// phase; the record's current phase is only advice. If labels have changed since the
// save, they select the phase, unless phases are only numbered.
func standingOf(r *checkpoint.Record, v freshness.Verdict) standing {
	p := r.Progress()
	s := standing{
		current: cmp.Or(p.Current, r.Phase()), completed: p.Completed, remaining: p.Remaining,
		batches: r.CompletedBatches(), from: r.ResumeFrom(),
	}
	s.pending, _ = tasks.Of(r).Batches() // judge rejects cycles
	if len(p.Remaining) > 0 {
		s.current = p.Remaining[0]
	}
	if v.Phase != "" && (len(p.Remaining) == 0 || slices.Contains(p.Names, v.Phase)) {
		s.current = v.Phase
	}
	s.complete = p.Total > 0 && len(p.Remaining) == 0
	if s.from == "" {
		s.from = r.DefaultResumePoint()
	}
	switch v.Next.Action {
	case "":
	case layout.Finished:
		s.complete, s.from = true, layout.Finished
	default:
		s.current, s.from = v.Next.Phase, "phase_"+v.Next.Phase
	}
	return s
}

// progressLine returns the progress line of the prompt.
func progressLine(r *checkpoint.Record) string {
	p := r.Progress()
	switch done := lastCompleted(p.Completed); {
	case done == "" && p.Total > 0:
		return fmt.Sprintf("Phase 0 of %d completed", p.Total)
	case done == "" && r.Phase() == "" && r.CurrentBatch() == 0:
		return "no phase recorded"
	case done == "":
		return strings.TrimPrefix(phaseAndBatch(r), ", ")
	case p.Total > 0 && slices.Contains(p.Names, done):
		return fmt.Sprintf("Phase %d of %d completed (%s)", slices.Index(p.Names, done)+1, p.Total, done)
	case p.Total > 0:
		return fmt.Sprintf("Phase %s of %d completed", done, p.Total)
	default:
		return fmt.Sprintf("Phase %s completed", done)
	}
}

// phaseAndBatch describes the progress of work without a number of phases.
func phaseAndBatch(r *checkpoint.Record) string {
	text := ""
	if r.Phase() != "" {
		text = "Phase " + r.Phase()
	}
	if done := r.CompletedBatches(); len(done) > 0 {
		text += fmt.Sprintf(", batch %d completed", slices.Max(done))
	}
	return text
}

// lastCompleted returns the completed phase with the largest number. If a name is not a
// number, it returns the last element.
func lastCompleted(completed []string) string {
	best, bestN := "", -1
	for _, name := range completed {
		n, err := strconv.Atoi(name)
		if err != nil {
			return completed[len(completed)-1]
		}
		if n > bestN {
			best, bestN = name, n
		}
	}
	return best
}

// continueFrom returns the point at which work continues, as text for the prompt.
func continueFrom(r *checkpoint.Record) string {
	s := standingOf(r, freshness.Verdict{})
	switch {
	case s.complete:
		return "nothing is left to do"
	case len(s.remaining) > 0:
		return "Phase " + s.remaining[0]
	case len(s.completed) > 0:
		if n, err := strconv.Atoi(lastCompleted(s.completed)); err == nil {
			return "Phase " + strconv.Itoa(n+1)
		}
	}
	return cmp.Or(s.from, "the checkpoint")
}
