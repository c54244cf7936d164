package freshness

import (
	"fmt"
	"strings"
	"time"
)

// AllMet is the text of Verdict.SafeWhy if all conditions are met.
const AllMet = "All conditions met"

// A condition is an unmet condition of a resume without user interaction. If reported is
// set, another check reports the same finding, and checkWorkflow skips the condition
// unless it decides the action.
type condition struct {
	text     string
	reported bool
	status   bool // workflow status: dotagent needs an answer for it, other layouts warn
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
	if !running(status) {
		out = append(out, condition{text: "Checkpoint status: " + printable(status) + " (expected: in_progress)", status: true})
	}
	age, limit := in.facts.Now.Sub(in.record.CreatedAt()), in.rules.maxAge()
	old := in.aged() && limit > 0 && age > limit
	add(old, fmt.Sprintf("Checkpoint %s old (max: %s)", count(int(age/(24*time.Hour)), "day"), span(limit)), true)
	add(in.facts.Plan.Changed, "Plan file modified since checkpoint", false)
	return out
}

// running reports whether a status means that the workflow is in progress.
func running(status string) bool {
	s := strings.ToLower(strings.NewReplacer("-", "_", " ", "_").Replace(status))
	return s == "" || s == "in_progress"
}

// safeToResume reports whether all five conditions of a resume without user interaction
// are met. It also returns the first unmet condition, or AllMet. The conditions describe
// only the previous run; other checks add their own findings.
func (in input) safeToResume() (bool, string) {
	if unmet := in.unmet(); len(unmet) > 0 {
		return false, unmet[0].text
	}
	return true, AllMet
}

// checkWorkflow returns findings about the run that ended with the checkpoint. If
// Rules.Auto is set, the first unmet condition becomes a question, because no user reads
// warnings.
func checkWorkflow(in input) []Reason {
	var out []Reason
	if in.record.WriteInterrupted() {
		out = append(out, reason("workflow", PromptUser, "A write of the state was interrupted"))
	}
	for k, c := range in.unmet() {
		switch {
		case in.rules.Auto && k == 0, c.status && in.record.Layout() == "dotagent":
			out = append(out, reason("workflow", PromptUser, "%s", c.text))
		case !c.reported:
			out = append(out, reason("workflow", ProceedWithWarning, "%s", c.text))
		}
	}
	if why := in.facts.Plan.Why; why != "" {
		out = append(out, unchecked("workflow", "Plan file", why))
	}
	return out
}

// loop is the number of resumes of one checkpoint that causes a warning.
const loop = 3

// checkLoop returns a warning if a checkpoint is resumed repeatedly without a save.
func checkLoop(in input) []Reason {
	if in.facts.Resumes < loop-1 {
		return nil
	}
	return []Reason{reason("loop", ProceedWithWarning, "Resumed %s already without a save since", count(in.facts.Resumes, "time"))}
}
