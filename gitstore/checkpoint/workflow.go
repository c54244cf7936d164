package checkpoint

import "slices"

// The accessors of a workflow look in the section workflow, then at the top of
// the document, where other systems have these fields.

// WorkflowStatus returns the workflow's status as it is written, "" where
// nobody said.
func (r *Record) WorkflowStatus() string { return r.workflowText("status") }

// Subject returns what the work is about: the issue's title, else the
// description of the workflow, "" where nobody said.
func (r *Record) Subject() string {
	if title := r.IssueSnapshot().Title; title != "" {
		return title
	}
	return r.workflowText("description")
}

// Command returns the command that began the workflow, "" where nobody said. In
// the claude layout that is the workflow's type.
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

// Scope returns how much of the work the workflow is to do, as in
// research-and-plan, "" where nobody said.
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

// Layout returns the layout of the document that the record came from, "" for
// none.
func (r *Record) Layout() string { return text(r.section("layout"), "name") }

// LastError returns the error that the workflow ended with, "" if there is
// none.
func (r *Record) LastError() string {
	if s := r.workflowText("last_error"); s != "" {
		return s
	}
	return text(r.section("error_state"), "last_error")
}

// TestsPassing returns whether the tests passed in the last run; a record that
// does not say knows of no failure.
func (r *Record) TestsPassing() bool {
	return boolean(r.section("workflow"), "tests_passing", boolean(r.doc, "tests_passing", true))
}

// WriteInterrupted reports that interruption_safe is false: a write of the
// state that was recorded was cut.
func (r *Record) WriteInterrupted() bool {
	return !boolean(r.section("workflow"), "interruption_safe", boolean(r.doc, "interruption_safe", true))
}

// SetResumedStale notes that work went on from a checkpoint that was older than
// work should be.
func (r *Record) SetResumedStale() { r.mustSection("workflow").Set("resumed_stale", true) }

// PlanPath returns the place of the plan, "" where there is none.
func (r *Record) PlanPath() string {
	if s := r.workflowText("plan_path"); s != "" {
		return s
	}
	return text(r.section("workflow_state"), "plan_path")
}

// PlanDigest returns what the plan was at the save, "" where that is not known.
func (r *Record) PlanDigest() string { return text(r.section("workflow"), "plan_digest") }

// SetPlanDigest sets workflow.plan_digest; empty text removes it.
func (r *Record) SetPlanDigest(digest string) {
	if digest != "" || r.section("workflow") != nil {
		setOrDelete(r.mustSection("workflow"), "plan_digest", digest)
	}
}

func (r *Record) workflowText(key string) string {
	if s := text(r.section("workflow"), key); s != "" {
		return s
	}
	return text(r.doc, key)
}

// EnterPhase begins a phase that the work is not in, and counts how often it
// was begun. workflow_state.phase_attempts has the counts of the phases that were
// left.
func (r *Record) EnterPhase(phase string) {
	m := r.mustSection("workflow_state")
	left := r.Phase()
	if left != "" {
		before, ok := m.child("phase_attempts")
		if !ok {
			before = NewMap()
			m.Set("phase_attempts", before)
		}
		before.Set(left, max(r.PhaseAttempt(), 1))
	}
	r.SetPhase(phase)
	r.SetPhaseAttempt(r.attempts(phase) + 1)
}

// attempts is how often a phase was begun before.
func (r *Record) attempts(phase string) int {
	before, _ := r.section("workflow_state").child("phase_attempts")
	n := int(integer(before, phase))
	if n == 0 && slices.Contains(r.Progress().Completed, phase) {
		return 1 // before anybody counted
	}
	return max(n, 0)
}
