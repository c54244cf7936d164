package progress

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/document"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// A Point states where the work of a record goes on. Package freshness adds what the issue's
// labels and the files say.
type Point struct {
	Phase    string // phase to continue in, "" if unknown
	Code     string // resume point: phase_X, stage_N, batch_N_task_M, a task or story, or ""
	Complete bool   // the record states that nothing is left; Phase and Code are "" then
}

// PointOf returns the point at which the work of a record goes on. The work is complete if the
// record says so, or if all phases of a stated total are over. Otherwise the recorded resume point
// counts, unless what it names is over; then the first open task of the current batch, the next
// phase, or the first open task. Without a total, the phase after the last completed number is
// the next one.
func PointOf(r *checkpoint.Record) Point {
	p := r.Progress()
	if r.WorkflowStatus() == Completed || story.IsComplete(r) || p.Total > 0 && len(p.Remaining) == 0 {
		return Point{Complete: true}
	}
	at := Point{Phase: openPhase(r, p)}
	if code := r.ResumeFrom(); code != "" && !isOver(r, p, code) {
		at.Code = code
		if phase := PhaseOf(code); phase != "" && (slices.Contains(p.Remaining, phase) || p.Total == 0) {
			at.Phase, at.Code = phase, Code(phase)
		}
		return at
	}
	at.Code = nextCode(r, p, at.Phase)
	return at
}

// DefaultCode returns the resume point of a record without regard to the recorded one, or "".
func DefaultCode(r *checkpoint.Record) string {
	p := r.Progress()
	if p.Total > 0 && len(p.Remaining) == 0 {
		return ""
	}
	return nextCode(r, p, openPhase(r, p))
}

// nextCode returns the resume point for the progress alone. phase is the phase to continue in.
func nextCode(r *checkpoint.Record, p checkpoint.Progress, phase string) string {
	batch, task, next := batchPoint(r, p), "", ""
	if len(p.Remaining) == 0 {
		if left := tasks.Of(r).Left(); len(left) > 0 {
			task = left[0]
		}
		next = story.Next(r)
	}
	return cmp.Or(batch, task, next, Code(phase))
}

// Code returns the resume point of a phase: its name for a stage of a pipeline, else phase_ and
// its name. It returns "" for no phase.
func Code(phase string) string {
	if phase == "" || isStage(phase) {
		return phase
	}
	return "phase_" + phase
}

// PhaseOf returns the phase of a resume point, or "".
func PhaseOf(code string) string {
	phase, ok := strings.CutPrefix(code, "phase_")
	if ok || isStage(code) {
		return phase
	}
	return ""
}

// isStage reports whether a name is that of a stage of a pipeline.
func isStage(name string) bool {
	n, ok := strings.CutPrefix(name, "stage_")
	_, err := strconv.Atoi(n)
	return ok && err == nil
}

// openPhase returns the phase to continue in: the first remaining one, the current one, or the
// next number after the completed ones.
func openPhase(r *checkpoint.Record, p checkpoint.Progress) string {
	if len(p.Remaining) > 0 {
		return p.Remaining[0]
	}
	current := cmp.Or(p.Current, r.Phase())
	for _, phase := range []string{p.Current, r.Phase()} {
		if phase != "" && !p.Over(phase) {
			return phase
		}
	}
	if n, err := strconv.Atoi(cmp.Or(lastNumber(p.Completed), current)); err == nil && p.Total == 0 && !Over(r) {
		return numberAfter(p, n)
	}
	return ""
}

// numberAfter returns the first number after n whose phase is not over.
func numberAfter(p checkpoint.Progress, n int) string {
	for n++; p.Over(strconv.Itoa(n)); n++ {
		continue
	}
	return strconv.Itoa(n)
}

// lastNumber returns the largest number among names, or "".
func lastNumber(names []string) string {
	best := -1
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			best = max(best, n)
		}
	}
	if best < 0 {
		return ""
	}
	return strconv.Itoa(best)
}

// batchPoint returns the point of the current batch, or of the next one if it is completed. It
// returns "" if the phase is over.
func batchPoint(r *checkpoint.Record, p checkpoint.Progress) string {
	n := r.CurrentBatch()
	if n <= 0 || r.Phase() != "" && p.Over(r.Phase()) {
		return ""
	}
	for done := r.CompletedBatches(); slices.Contains(done, n); n++ {
		continue
	}
	return "batch_" + strconv.Itoa(n) + "_task_" + strconv.Itoa(r.OpenTaskOf(n))
}

// isOver reports whether a resume point names a phase, a batch or a task that is over.
func isOver(r *checkpoint.Record, p checkpoint.Progress, code string) bool {
	if phase := PhaseOf(code); phase != "" {
		return p.Over(phase)
	}
	if m := batchCode().FindStringSubmatch(code); m != nil {
		n, err := strconv.Atoi(m[1])
		return err == nil && slices.Contains(r.CompletedBatches(), n)
	}
	t, ok := tasks.Of(r).Task(code)
	return ok && t.Over()
}

// batchCode matches the resume point in a batch.
var batchCode = document.Pattern(`^batch_([0-9]+)_task_([0-9]+)$`)

// Batch returns the batch and the task of a resume point in a batch. ok is false for others.
func Batch(code string) (batch, task string, ok bool) {
	m := append(batchCode().FindStringSubmatch(code), "", "", "")
	return m[1], m[2], m[0] != ""
}
