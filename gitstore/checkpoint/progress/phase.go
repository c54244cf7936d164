package progress

import (
	"fmt"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// The words for how a phase, or the workflow, stands.
const (
	InProgress = "in_progress"
	Completed  = "completed"
	Failed     = "failed"
	Skipped    = "skipped"
	Aborted    = "aborted"
	pending    = "pending"
)

// A Step is what every transition of a phase has: the phase, when it is made,
// and whether it is made in spite of what speaks against it.
type Step struct {
	Phase string // as Resolve returns it
	At    time.Time
	Force bool
	Known []Replan // of the workflow's other checkpoints: they count too
	Ways  Transitions
}

// Start begins a phase, or begins it again: that is an attempt more. A phase
// that is over is not begun, and none while another waits for an approval; one
// that failed is begun again as often as retries allow.
func (s Step) Start(r *checkpoint.Record, retries int) error {
	m := r.Doc().Sub("progress").Sub("phases").Sub(s.Phase)
	switch {
	case s.Force:
	case r.Progress().Over(s.Phase):
		return s.over(r, "start")
	case s.waits(r) != "":
		return &ApprovalError{Issue: r.Issue(), Phase: s.waits(r)}
	case m.Text("status") == Failed && intOf(m, "failures") > retries:
		return s.tooOften(r, retries)
	}
	if err := s.leap(r, "start"); err != nil {
		return err
	}
	s.begin(r)
	touch(r, s.At)
	return nil
}

// over refuses a transition of a phase that is completed or skipped.
func (s Step) over(r *checkpoint.Record, verb string) error {
	how := Completed
	if !slices.Contains(r.Progress().Completed, s.Phase) {
		how = Skipped
	}
	return &RefusedError{
		Issue: r.Issue(), Reason: fmt.Sprintf("phase %s is %s already", s.Phase, how), Over: true,
		Instead: []Way{{"phase", verb, s.Phase, "--force"}},
	}
}

// waits is a phase that waits for an approval before another one begins, ""
// for none.
func (s Step) waits(r *checkpoint.Record) string {
	for _, phase := range r.Awaiting() {
		if phase != s.Phase {
			return phase
		}
	}
	return ""
}

// begin makes a phase the current one, in progress. Where the work was in it
// already that is another attempt, unless that was counted when it was decided.
func (s Step) begin(r *checkpoint.Record) {
	m := phaseSection(r, s.Phase)
	if m.Text("status") != pending {
		s.reopen(r)
	}
	s.open(r)
	r.SetPhaseStartedAt(s.At)
	m.Set("status", InProgress)
	m.Set("started_at", checkpoint.FormatTime(s.At))
}

// reopen leaves a phase to be done, whatever became of it before. Where it was
// begun already that is another attempt, unless a resume counted it.
func (s Step) reopen(r *checkpoint.Record) {
	m := phaseSection(r, s.Phase)
	if begun := intOf(m, "attempt"); begun > 0 && s.Phase == r.Phase() {
		r.SetPhaseAttempt(max(r.PhaseAttempt(), begun+1))
	}
	s.open(r)
	m.Set("status", pending)
	m.Set("attempt", max(r.PhaseAttempt(), 1))
	for _, key := range []string{"timestamp", "duration_minutes", "reason"} {
		m.Delete(key)
	}
}

// open makes a phase the current one, and one that is left to do.
func (s Step) open(r *checkpoint.Record) {
	p := r.Progress()
	p.Completed, p.Skipped = without(p.Completed, s.Phase), without(p.Skipped, s.Phase)
	if !slices.Contains(p.Remaining, s.Phase) {
		p.Remaining = inOrder(p, append(slices.Clone(p.Remaining), s.Phase))
	}
	p.Current = s.Phase
	store(r, p)
	enter(r, s.Phase, s.At)
}

// A Report is what a phase leaves behind.
type Report struct {
	Artifacts []Artifact
	Output    Artifact // the file that is its outcome, without a path where there is none
	Summary   string
}

// An Artifact is a file of a phase, relative to the root of the worktree.
type Artifact struct {
	Path, Digest, Title string
	Size                int64
}

func (p Report) isEmpty() bool {
	return len(p.Artifacts) == 0 && p.Output.Path == "" && p.Summary == ""
}

// Done completes a phase and moves on to the next. It fails with
// *NothingError where the phase is completed and there is nothing new to report of it.
func (s Step) Done(r *checkpoint.Record, report Report) error {
	p := r.Progress()
	before := slices.Contains(p.Completed, s.Phase)
	switch {
	case before && report.isEmpty():
		return already(s.Phase, Completed)
	case !s.Force && slices.Contains(r.Awaiting(), s.Phase):
		return &ApprovalError{Issue: r.Issue(), Phase: s.Phase}
	case before:
		report.record(phaseSection(r, s.Phase))
		touch(r, s.At)
		return nil
	}
	if err := s.leap(r, "done"); err != nil {
		return err
	}
	enter(r, s.Phase, s.At)
	m := phaseSection(r, s.Phase)
	s.end(m, Completed)
	m.Delete("error")
	report.record(m)
	s.close(r, Completed)
	if w := r.Doc().Sub("workflow"); w.Len() > 0 {
		w.Delete("last_error")
	}
	return nil
}

// end notes how and when a phase ended, and how long it took where nobody said
// that and it is known when it began.
func (s Step) end(m *checkpoint.Map, status string) {
	_, given := m.Get("duration_minutes")
	given = given && m.Text("status") == InProgress // what began has none
	m.Set("status", status)
	m.Set("timestamp", checkpoint.FormatTime(s.At))
	if began := timeOf(m, "started_at"); !began.IsZero() && !given {
		m.Set("duration_minutes", minutes(s.At.Sub(began)))
	}
}

// close takes a phase out of what is left to do, to those that are completed
// or those that were skipped.
func (s Step) close(r *checkpoint.Record, status string) {
	p := r.Progress()
	p.Completed, p.Skipped = without(p.Completed, s.Phase), without(p.Skipped, s.Phase)
	list := &p.Completed
	if status == Skipped {
		list = &p.Skipped
	}
	*list = inOrder(p, append(*list, s.Phase))
	p.Remaining = without(p.Remaining, s.Phase)
	follow(r, p, s.Phase)
	touch(r, s.At)
}
