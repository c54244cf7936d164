package commands

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/freshness"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/layout"
)

// A standing is how far a record's work is, for people and for scripts.
type standing struct {
	current   string   // the phase to go on with
	completed []string // phases
	remaining []string
	batches   []int      // completed ones
	pending   [][]string // tasks that are not over, in batches
	complete  bool       // every phase is done
	from      string
}

// standingOf reads it from a record. Work goes on with the first phase that
// is not completed; the phase that the record calls current is advice.
// Labels that changed since lead to another phase, if it is no numbered one.
func standingOf(r *checkpoint.Record, v freshness.Verdict) standing {
	p := r.Progress()
	s := standing{
		current: first(p.Current, r.Phase()), completed: p.Completed, remaining: p.Remaining,
		batches: r.CompletedBatches(), from: r.ResumeFrom(),
	}
	s.pending, _ = tasks.Of(r).Batches() // judge refuses a cycle
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

// progressLine is the line of the prompt that says how far the work is.
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

// phaseAndBatch describes work that is not counted in phases.
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

// lastCompleted is the largest completed phase where they are numbers, else
// the last one.
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

// continueFrom is where the prompt says that work goes on.
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
	return first(s.from, "the checkpoint")
}
