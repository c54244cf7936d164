package progress

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

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
func (s Step) Fail(r *checkpoint.Record, why string, then OnFailure, retries int) (spent *PlanLimitError, err error) {
	if !s.Force && r.Progress().Over(s.Phase) {
		return nil, s.over(r, "start")
	}
	enter(r, s.Phase, s.At)
	m := phaseSection(r, s.Phase)
	s.end(m, Failed)
	m.Set("failures", intOf(m, "failures")+1)
	setText(m, "error", why)
	p := r.Progress()
	p.Current = s.Phase
	store(r, p)
	touch(r, s.At)
	setText(r.Doc().MustSub("workflow"), "last_error", cmp.Or(why, "phase "+s.Phase+" failed"))
	switch then {
	case Retry:
		if !s.Force && intOf(m, "failures") > retries {
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

// tooOften returns the error for the retry limit. Its history has only the last failure.
func (s Step) tooOften(r *checkpoint.Record, retries int) *PlanLimitError {
	m := r.Doc().Sub("progress").Sub("phases").Sub(s.Phase)
	e := &PlanLimitError{
		Issue:   r.Issue(),
		Reason:  fmt.Sprintf("phase %s failed %d times, the limit is %d retries", s.Phase, intOf(m, "failures"), retries),
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

func (s Step) skip(r *checkpoint.Record, why string) {
	enter(r, s.Phase, s.At)
	m := phaseSection(r, s.Phase)
	s.end(m, Skipped)
	setText(m, "reason", why)
	s.close(r, Skipped)
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

// Finish ends the workflow with a status. A completed workflow loses its last error.
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
	if status == Aborted {
		m.Set("abort_info", abortInfo(r, why, at))
	}
}

// abortInfo returns the abort_info section: reason, time and the last failed phase, if
// any.
func abortInfo(r *checkpoint.Record, why string, at time.Time) *checkpoint.Map {
	m := checkpoint.NewMap()
	m.Set("decision", string(Abort))
	for phase, v := range r.Doc().Sub("progress").Sub("phases").All() {
		if p, ok := v.(*checkpoint.Map); ok && p.Text("status") == Failed {
			m.Set("failed_phase", phase)
			setText(m, "error_description", p.Text("error"))
		}
	}
	m.Set("timestamp", checkpoint.FormatTime(at))
	putText(m, "reason", why)
	return m
}
