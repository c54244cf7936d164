// Package standing describes the progress of a checkpoint's work as text and as JSON.
package standing

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
	Current   string   // phase at which work continues
	Completed []string // completed phases
	Remaining []string
	batches   []int      // completed batches
	pending   [][]string // open tasks, in batches
	Complete  bool       // all phases are completed
	From      string
}

// Of returns the progress of a record. Work continues at the first remaining
// phase; the record's current phase is only advice. If labels have changed since the
// save, they select the phase, unless phases are only numbered.
func Of(r *checkpoint.Record, v freshness.Verdict) standing {
	p := r.Progress()
	s := standing{
		Current: cmp.Or(p.Current, r.Phase()), Completed: p.Completed, Remaining: p.Remaining,
		batches: r.CompletedBatches(), From: r.ResumeFrom(),
	}
	s.pending, _ = tasks.Of(r).Batches() // judge rejects cycles
	if len(p.Remaining) > 0 {
		s.Current = p.Remaining[0]
	}
	if v.Phase != "" && (len(p.Remaining) == 0 || slices.Contains(p.Names, v.Phase)) {
		s.Current = v.Phase
	}
	s.Complete = p.Total > 0 && len(p.Remaining) == 0
	if s.From == "" {
		s.From = r.DefaultResumePoint()
	}
	switch v.Next.Action {
	case "":
	case layout.Finished:
		s.Complete, s.From = true, layout.Finished
	default:
		s.Current, s.From = v.Next.Phase, "phase_"+v.Next.Phase
	}
	return s
}

// ProgressLine returns the progress line of the prompt.
func ProgressLine(r *checkpoint.Record) string {
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

// ContinueFrom returns the point at which work continues, as text for the prompt.
func ContinueFrom(r *checkpoint.Record) string {
	s := Of(r, freshness.Verdict{})
	switch {
	case s.Complete:
		return "nothing is left to do"
	case len(s.Remaining) > 0:
		return "Phase " + s.Remaining[0]
	case len(s.Completed) > 0:
		if n, err := strconv.Atoi(lastCompleted(s.Completed)); err == nil {
			return "Phase " + strconv.Itoa(n+1)
		}
	}
	return cmp.Or(s.From, "the checkpoint")
}
