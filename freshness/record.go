package freshness

import (
	"fmt"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
)

// AllMet is the text of Verdict.AutoReason if an unattended resume goes on.
const AllMet = "All conditions met"

// checkCanResume reports the record's own warnings as reasons against a resume.
func checkCanResume(in input) {
	if in.record.CanResume() {
		return
	}
	for _, w := range in.record.Warnings() {
		in.add("can_resume", StartFresh, "%s", failure.Printable(w))
	}
	if len(in.record.Warnings()) == 0 {
		in.add("can_resume", StartFresh, "Checkpoint is marked as not resumable")
	}
}

// checkRecord reports the warnings of a resumable record, and files that a limit excluded.
func checkRecord(in input) {
	if in.record.CanResume() {
		for _, w := range in.record.Warnings() {
			in.add("record", ProceedWithWarning, "%s", failure.Printable(w))
		}
	}
	if left := in.record.Snapshot().LeftOut(); len(left) > 0 {
		are := " are"
		if len(left) == 1 {
			are = " is"
		}
		r := in.add("record", ProceedWithWarning, "%s%s not in the checkpoint: %s", failure.Plural(len(left), "file"), are, failure.Printable(left[0].Path+", "+left[0].Reason))
		for _, f := range left {
			if f.Path == "." || f.Reason == checkpoint.OutOfTime {
				r.Message = "Files are not in the checkpoint: " + failure.Printable(f.Reason)
			}
			r.Detail = append(r.Detail, failure.Printable(f.Path+", "+f.Reason))
		}
	}
	if !in.record.PrerequisitesMet() {
		in.add("record", ProceedWithWarning, "Prerequisites were not met at the checkpoint")
	}
}

func checkTime(in input) {
	t, now := in.record.CreatedAt(), in.facts.Now
	switch {
	case t.IsZero():
		in.unchecked("time", "Checkpoint time", "created_at is missing or cannot be read")
	case now.IsZero():
		in.unchecked("time", "Checkpoint time", "the current time is unknown")
	case in.beyondMaxAge(t):
		in.add("time", ProceedWithWarning, "Checkpoint is older than %s: %s", span(DefaultMaxAge), checkpoint.FormatTime(t))
	default:
		in.future("Checkpoint time", t)
	}
}

// checkStateTimes checks the times in a dotagent state. They can differ from the time of
// the checkpoint, because a state can be recorded long after it was written. A long
// workflow is reported until a person resumes it.
func checkStateTimes(in input) {
	if in.record.Layout() != "dotagent" || in.facts.Now.IsZero() {
		return
	}
	began, touched := in.record.WorkflowStarted(), in.record.WorkflowUpdated()
	isFuture := in.future("started_at", began)
	switch isFuture = in.future("last_updated", touched) || isFuture; {
	case isFuture || in.beyondMaxAge(in.record.CreatedAt()):
	case in.beyondMaxAge(touched):
		in.add("time", ProceedWithWarning, "State was last updated more than %s ago: %s", span(DefaultMaxAge), checkpoint.FormatTime(touched))
	case in.beganLongAgo():
		in.add("time", ProceedWithWarning, "Workflow was started more than %s ago: %s", span(DefaultMaxAge), checkpoint.FormatTime(began))
	}
}

// future reports whether a time is in the future, and adds a finding about it.
func (in input) future(name string, t time.Time) bool {
	age := in.facts.Now.Sub(t)
	if t.IsZero() || age >= -DefaultSkew {
		return false
	}
	r := in.add("time", ProceedWithWarning, "%s %s is in the future", name, checkpoint.FormatTime(t))
	if r.Corrupt = age < -DefaultTolerance; r.Corrupt {
		r.Message = fmt.Sprintf("%s %s is more than %s in the future: a clock is wrong", name, checkpoint.FormatTime(t), span(DefaultTolerance))
	}
	return true
}

// beganLongAgo reports whether a dotagent workflow is older than the age limit, and no
// person has resumed it since.
func (in input) beganLongAgo() bool {
	return in.record.Layout() == "dotagent" && !in.record.ResumedStale() && in.beyondMaxAge(in.record.WorkflowStarted())
}

// span formats a duration in days if possible, otherwise in hours.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	if d%day == 0 {
		return failure.Plural(int(d/day), "day")
	}
	return fmt.Sprintf("%d h", d/time.Hour)
}

// written returns the time of the checkpoint, or the time of its dotagent state if that is
// earlier.
func (in input) written() time.Time {
	t, touched := in.record.CreatedAt(), in.record.WorkflowUpdated()
	if in.record.Layout() == "dotagent" && !touched.IsZero() && touched.Before(t) {
		return touched
	}
	return t
}

// beyondMaxAge reports whether a known time is older than the age limit.
func (in input) beyondMaxAge(t time.Time) bool {
	return !t.IsZero() && !in.facts.Now.IsZero() && in.facts.Now.Sub(t) > DefaultMaxAge
}

// unmet returns the unmet conditions in a fixed order, so that the first condition is the
// reason. A field missing from the record counts as met.
func (in input) unmet() []condition {
	var out []condition
	add := func(bad bool, text string, reported bool) {
		if bad {
			out = append(out, condition{text: text, reported: reported})
		}
	}
	status := in.record.WorkflowStatus()
	add(!in.record.TestsPassing(), "Tests failing in last run", false)
	add(in.record.LastError() != "", "Last run had errors", false)
	if word := strings.ToLower(strings.NewReplacer("-", "_", " ", "_").Replace(status)); word != "" && word != "in_progress" {
		out = append(out, condition{text: "Checkpoint status: " + failure.Printable(status) + " (expected: in_progress)", status: true})
	}
	age := in.facts.Now.Sub(in.written())
	add(in.beyondMaxAge(in.written()), fmt.Sprintf("Checkpoint %s old (max: %s)", failure.Plural(int(age/(24*time.Hour)), "day"), span(DefaultMaxAge)), true)
	add(in.facts.Plan.Changed, "Plan file modified since checkpoint", false)
	return out
}

// A condition is an unmet condition of a resume without user interaction. If reported is
// set, another check reports the same finding, and checkWorkflow skips the condition
// unless it decides the action.
type condition struct {
	text     string
	reported bool
	status   bool // workflow status: dotagent needs an answer for it, other layouts warn
}

// checkWorkflow adds findings about the run that ended with the checkpoint. If
// Rules.Auto is set, the first unmet condition becomes a question, because no user reads
// warnings.
func checkWorkflow(in input) {
	if in.record.WriteInterrupted() {
		in.add("workflow", PromptUser, "A write of the state was interrupted").Corrupt = true
	}
	for k, c := range in.unmet() {
		switch {
		case in.rules.Auto && k == 0, c.status && in.record.Layout() == "dotagent":
			in.add("workflow", PromptUser, "%s", c.text)
		case !c.reported:
			in.add("workflow", ProceedWithWarning, "%s", c.text)
		}
	}
	if why := in.facts.Plan.Why; why != "" {
		in.unchecked("workflow", "Plan file", why)
	}
}

// checkLoop warns if a checkpoint is resumed for the third time without a save.
func checkLoop(in input) {
	if in.facts.Resumes >= 2 {
		in.add("loop", ProceedWithWarning, "Resumed %s without a save in between", failure.Plural(in.facts.Resumes, "time"))
	}
}
