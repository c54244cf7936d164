package checkpoint

import (
	"slices"

	"git-checkpoint/gitstore/checkpoint/document"
)

// Workflow accessors read the workflow section, then the top level, the location in other
// systems.

// WorkflowStatus returns the workflow's status as written, "" if absent.
func (r *Record) WorkflowStatus() string { return r.workflowText("status") }

// Subject returns the issue's title, otherwise the workflow's description, "" if both are
// absent.
func (r *Record) Subject() string {
	if title := r.IssueSnapshot().Title; title != "" {
		return title
	}
	return r.workflowText("description")
}

// Command returns the command that started the workflow, "" if absent. In the claude
// layout it is the workflow's type.
func (r *Record) Command() string {
	for _, path := range []string{"workflow.command", "command_name", "state_machine.workflow_config.command"} {
		if s := r.textAt(path); s != "" {
			return s
		}
	}
	if r.Layout() == "claude" {
		return r.workflowText("type")
	}
	return ""
}

// Scope returns the scope of the workflow, for example research-and-plan, "" if absent.
func (r *Record) Scope() string {
	if s := r.workflowText("scope"); s != "" {
		return s
	}
	return r.textAt("state_machine.workflow_config.scope")
}

func (r *Record) textAt(path string) string {
	v, _ := r.doc.Lookup(path)
	s, _ := v.(string)
	return s
}

// Layout returns the layout of the original document, "" without a layout.
func (r *Record) Layout() string { return document.TextOf(r.section("layout"), "name") }

// LastError returns the last error of the workflow, "" if absent.
func (r *Record) LastError() string {
	if s := r.workflowText("last_error"); s != "" {
		return s
	}
	return document.TextOf(r.section("error_state"), "last_error")
}

// TestsPassing reports whether the last test run passed, true if unknown.
func (r *Record) TestsPassing() bool {
	return boolean(r.section("workflow"), "tests_passing", boolean(r.doc, "tests_passing", true))
}

// WriteInterrupted reports whether interruption_safe is false, which means that a write
// of the recorded state was interrupted.
func (r *Record) WriteInterrupted() bool {
	return !boolean(r.section("workflow"), "interruption_safe", boolean(r.doc, "interruption_safe", true))
}

// SetResumedStale records a resume from a checkpoint over the age limit.
func (r *Record) SetResumedStale() { r.mustSection("workflow").Set("resumed_stale", true) }

// PlanPath returns the path of the plan, "" if absent.
func (r *Record) PlanPath() string {
	if s := r.workflowText("plan_path"); s != "" {
		return s
	}
	return document.TextOf(r.section("workflow_state"), "plan_path")
}

// PlanDigest returns the plan's digest at the save, "" if unknown.
func (r *Record) PlanDigest() string { return document.TextOf(r.section("workflow"), "plan_digest") }

// SetPlanDigest sets workflow.plan_digest; an empty text deletes it.
func (r *Record) SetPlanDigest(digest string) {
	if digest != "" || r.section("workflow") != nil {
		setOrDelete(r.mustSection("workflow"), "plan_digest", digest)
	}
}

func (r *Record) workflowText(key string) string {
	if s := document.TextOf(r.section("workflow"), key); s != "" {
		return s
	}
	return document.TextOf(r.doc, key)
}

// EnterPhase switches to another phase and counts its attempts. The attempts of former
// phases are stored in workflow_state.phase_attempts.
func (r *Record) EnterPhase(phase string) {
	m := r.mustSection("workflow_state")
	left := r.Phase()
	if left != "" {
		before, ok := m.Child("phase_attempts")
		if !ok {
			before = NewMap()
			m.Set("phase_attempts", before)
		}
		before.Set(left, max(r.PhaseAttempt(), 1))
	}
	r.SetPhase(phase)
	r.SetPhaseAttempt(r.attempts(phase) + 1)
}

// attempts returns the number of former attempts of a phase.
func (r *Record) attempts(phase string) int {
	before, _ := r.section("workflow_state").Child("phase_attempts")
	n := int(integer(before, phase))
	if n == 0 && slices.Contains(r.Progress().Completed, phase) {
		return 1 // completed before attempts were counted
	}
	return max(n, 0)
}
