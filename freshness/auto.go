package freshness

import (
	"fmt"
	"strings"
	"time"
)

// AllMet is the verdict's Auto where nothing stands against it.
const AllMet = "All conditions met"

// A condition of a resume without anybody to ask that is not met. Those that
// another check reports as well are told here only where they decide.
type condition struct {
	text     string
	reported bool
	status   bool // dotagent resumes a phase in progress alone, any other needs an answer
}

// unmet returns the conditions that are not met, in the order in which they
// are stated: the first one is the reason. What a record does not say is no
// obstacle.
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

// running reports whether a status is that of a workflow under way.
func running(status string) bool {
	s := strings.ToLower(strings.NewReplacer("-", "_", " ", "_").Replace(status))
	return s == "" || s == "in_progress"
}

// safeToResume reports whether the five conditions of a resume without anybody
// to ask hold, with the first that does not, else AllMet. They are about the
// run before; what the other checks find comes on top.
func (in input) safeToResume() (bool, string) {
	if unmet := in.unmet(); len(unmet) > 0 {
		return false, unmet[0].text
	}
	return true, AllMet
}

// checkWorkflow is about the run that ended with the checkpoint. With Auto the
// first condition that is not met is a question, since nobody is there to look
// at warnings.
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

// loop is how many resumes of one checkpoint are too many.
const loop = 3

// checkLoop notices that a checkpoint is resumed again and again without a
// save in between.
func checkLoop(in input) []Reason {
	if in.facts.Resumes < loop-1 {
		return nil
	}
	return []Reason{reason("loop", ProceedWithWarning, "Resumed %s already without a save since", count(in.facts.Resumes, "time"))}
}
