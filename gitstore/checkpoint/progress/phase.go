package progress

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
)

// Status values of phases and workflows.
const (
	InProgress = "in_progress"
	Completed  = "completed"
	Failed     = "failed"
	Skipped    = "skipped"
	Aborted    = "aborted"
	pending    = "pending"
)

// A Step holds the common parameters of a phase transition.
type Step struct {
	Phase string // result of Resolve
	At    time.Time
	Force bool
	Known []Replan // replans in other checkpoints of the workflow, for the limit
	Ways  Transitions
}

// Start begins or restarts a phase; a restart counts as another attempt. It fails with
// *RefusedError if the phase is over, if no transition leads to the phase, if another phase
// awaits approval, or if the failures exceed retries. Force overrides these checks.
func (s Step) Start(r *checkpoint.Record, retries int) error {
	m := r.Doc().Sub("progress").Sub("phases").Sub(s.Phase)
	switch {
	case s.Force:
	case r.Progress().Over(s.Phase):
		return s.over(r, "start")
	case s.waits(r) != "":
		return awaits(r, s.waits(r))
	case m.Text("status") == Failed && int(m.Int("failures")) > retries:
		return s.tooOften(r, retries)
	}
	if err := s.leap(r, "start"); err != nil {
		return err
	}
	m = phaseSection(r, s.Phase)
	if m.Text("status") != pending { // another attempt, unless it is already counted
		s.reopen(r)
	}
	s.open(r)
	r.SetPhaseStartedAt(s.At)
	m.Set("status", InProgress)
	m.Set("started_at", checkpoint.FormatTime(s.At))
	touch(r, s.At)
	return nil
}

// A Report describes the results of a phase.
type Report struct {
	Artifacts []Artifact
	Output    Artifact // main output file; Path is "" if the phase has no output
	Summary   string
}

// An Artifact is a file of a phase. Path is relative to the worktree root.
type Artifact struct {
	Path   string `record:"path,path,keep"`
	Size   int64  `record:"size,keep"`
	Digest string `record:"digest" empty:"null"`
	Title  string `record:"title"`
}

// Done completes a phase and moves to the next phase. It fails with *NothingError if the
// phase is already completed and the report is empty.
func (s Step) Done(r *checkpoint.Record, report Report) error {
	p := r.Progress()
	before := slices.Contains(p.Completed, s.Phase)
	switch {
	case before && report.isEmpty():
		return already(s.Phase, Completed)
	case !s.Force && slices.Contains(r.Awaiting(), s.Phase):
		return awaits(r, s.Phase)
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

// OnFailure is the action after a failed phase.
type OnFailure string

// Values of OnFailure. Nothing leaves the decision to the user.
const (
	Nothing OnFailure = ""
	Retry   OnFailure = "retry"
	Skip    OnFailure = "skip"
	Abort   OnFailure = "abort"
)

// ParseOnFailure parses retry, skip or abort.
func ParseOnFailure(s string) (OnFailure, error) {
	switch o := OnFailure(s); o {
	case Retry, Skip, Abort:
		return o, nil
	}
	return "", fmt.Errorf("%q: want retry, skip or abort", s)
}

// Fail records the failure of a phase and applies the action. If the retry limit is
// reached, Fail still records the failure and returns the limit as spent. It returns a
// *RefusedError if the phase is over.
func (s Step) Fail(r *checkpoint.Record, why string, then OnFailure, retries int) (spent *RefusedError, err error) {
	if !s.Force && r.Progress().Over(s.Phase) {
		return nil, s.over(r, "start")
	}
	enter(r, s.Phase, s.At)
	m := phaseSection(r, s.Phase)
	s.end(m, Failed)
	m.Set("failures", m.Int("failures")+1)
	m.SetText("error", why)
	p := r.Progress()
	p.Current = s.Phase
	store(r, p)
	touch(r, s.At)
	r.Doc().MustSub("workflow").SetText("last_error", cmp.Or(why, "phase "+s.Phase+" failed"))
	switch then {
	case Retry:
		if !s.Force && int(m.Int("failures")) > retries {
			return s.tooOften(r, retries), nil
		}
		s.reopen(r)
	case Skip:
		s.skip(r, why)
	case Abort:
		Finish(r, Aborted, why, s.At)
	}
	return nil, nil
}

// Skip records a phase as skipped.
func (s Step) Skip(r *checkpoint.Record, why string) error {
	switch p := r.Progress(); {
	case slices.Contains(p.Skipped, s.Phase):
		return already(s.Phase, Skipped)
	case !s.Force && slices.Contains(p.Completed, s.Phase):
		return s.over(r, "skip")
	}
	s.skip(r, why)
	return nil
}

// Await records that a phase needs an approval. It fails with *NothingError if the phase is
// approved, or waits for an approval already.
func (s Step) Await(r *checkpoint.Record) error {
	switch {
	case slices.Contains(r.Awaiting(), s.Phase):
		return &NothingError{fmt.Sprintf("phase %s waits for an approval already", s.Phase)}
	case slices.Contains(r.Approved(), s.Phase):
		return already(s.Phase, "approved")
	}
	r.Await(s.Phase)
	touch(r, s.At)
	return nil
}

// Approve records the approval of a phase. It fails with *NothingError if the phase is
// already approved.
func (s Step) Approve(r *checkpoint.Record) error {
	if slices.Contains(r.Approved(), s.Phase) && !slices.Contains(r.Awaiting(), s.Phase) {
		return already(s.Phase, "approved")
	}
	r.Approve(s.Phase, s.At)
	touch(r, s.At)
	return nil
}

// ParseStatus parses the final status of a workflow: completed, failed or abandoned. The
// result for abandoned is Aborted.
func ParseStatus(s string) (string, error) {
	switch s {
	case Completed, Failed:
		return s, nil
	case "abandoned":
		return Aborted, nil
	}
	return "", fmt.Errorf("%q: want completed, failed or abandoned", s)
}

// Finish ends the workflow with a status. A completed workflow loses its last error. That of an
// aborted one has the reason, the time and the last failed phase in abort_info.
func Finish(r *checkpoint.Record, status, why string, at time.Time) {
	m := r.Doc().MustSub("workflow")
	m.Set("status", status)
	m.Set("updated_at", checkpoint.FormatTime(at))
	m.Set("finished_at", checkpoint.FormatTime(at))
	if status == Completed {
		m.Delete("last_error")
	}
	putText(m, "last_error", why)
	m.Delete("abort_info")
	if status != Aborted {
		return
	}
	info := m.MustSub("abort_info")
	info.Set("decision", string(Abort))
	for phase, p := range r.Doc().Sub("progress").Sub("phases").Subs() {
		if p.Text("status") == Failed {
			info.Set("failed_phase", phase)
			info.SetText("error_description", p.Text("error"))
		}
	}
	info.Set("timestamp", checkpoint.FormatTime(at))
	putText(info, "reason", why)
}

// over returns the error for a transition of a completed or skipped phase.
func (s Step) over(r *checkpoint.Record, verb string) error {
	how := Completed
	if !slices.Contains(r.Progress().Completed, s.Phase) {
		how = Skipped
	}
	return &RefusedError{
		Code: failure.Refused, Issue: r.Issue(), Reason: fmt.Sprintf("phase %s is %s already", s.Phase, how), Over: true,
		Instead: []Way{{"phase", verb, s.Phase, "--force"}},
	}
}

// waits returns another phase with a pending approval, "" if no approval is pending.
func (s Step) waits(r *checkpoint.Record) string {
	for _, phase := range r.Awaiting() {
		if phase != s.Phase {
			return phase
		}
	}
	return ""
}

// awaits returns the error for a pending approval.
func awaits(r *checkpoint.Record, phase string) error {
	return &RefusedError{
		Code: failure.NeedsAnswer, Issue: r.Issue(), Reason: fmt.Sprintf("approval of phase %s is pending", phase),
		Instead: []Way{{"phase", "approve", phase}},
	}
}

// tooOften returns the error for the retry limit. Its history has only the last failure.
func (s Step) tooOften(r *checkpoint.Record, retries int) *RefusedError {
	m := r.Doc().Sub("progress").Sub("phases").Sub(s.Phase)
	e := &RefusedError{
		Code: failure.Limit, Issue: r.Issue(),
		Reason:  fmt.Sprintf("phase %s failed %d times, the limit is %d retries", s.Phase, m.Int("failures"), retries),
		Instead: ways(s.Phase),
	}
	if why := m.Text("error"); why != "" {
		e.History = []string{m.Text("timestamp") + ": " + why}
	}
	return e
}

// ways returns the suggested commands for a reached limit.
func ways(phase string) []Way {
	return []Way{{"phase", "skip", phase}, {"phase", "replan", phase, "--force"}, {"finish", "--status", "failed"}}
}

// reopen resets a phase to pending, whatever its status. If the phase was begun before,
// reopen counts another attempt, unless a resume has counted it.
func (s Step) reopen(r *checkpoint.Record) {
	m := phaseSection(r, s.Phase)
	if begun := int(m.Int("attempt")); begun > 0 && s.Phase == r.Phase() {
		r.SetPhaseAttempt(max(r.PhaseAttempt(), begun+1))
	}
	s.open(r)
	m.Set("status", pending)
	m.Set("attempt", max(r.PhaseAttempt(), 1))
	for _, key := range []string{"timestamp", "duration_minutes", "reason"} {
		m.Delete(key)
	}
}

// open makes a phase current and adds it to the remaining phases.
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

func (p Report) isEmpty() bool {
	return len(p.Artifacts) == 0 && p.Output.Path == "" && p.Summary == ""
}

// end records the status and end time of a phase. It computes the duration from the start
// time, unless the user has set a duration.
func (s Step) end(m *checkpoint.Map, status string) {
	_, given := m.Get("duration_minutes")
	given = given && m.Text("status") == InProgress // a start clears the duration, so this value comes from the user
	m.Set("status", status)
	m.Set("timestamp", checkpoint.FormatTime(s.At))
	started, _ := m.Get("started_at")
	if began, err := checkpoint.ParseTime(started); err == nil && !began.IsZero() && !given {
		m.Set("duration_minutes", minutes(s.At.Sub(began)))
	}
}

// close moves a phase from the remaining phases to the completed or skipped phases.
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

func (s Step) skip(r *checkpoint.Record, why string) {
	enter(r, s.Phase, s.At)
	m := phaseSection(r, s.Phase)
	s.end(m, Skipped)
	m.SetText("reason", why)
	s.close(r, Skipped)
}
