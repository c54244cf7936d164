package layout

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// dotagentPhases lists the phases of the dotagent system in order.
var dotagentPhases = []string{"REQUIREMENTS", "ARCHITECTURE", "IMPLEMENTATION", "VERIFICATION", "REFLECTION"}

// dotagentStatuses lists the status values of a dotagent phase.
var dotagentStatuses = []string{pending, inProgress, "complete", failed}

// dotagentSystem returns the dotagent system.
func dotagentSystem() *system {
	return &system{
		name:   Dotagent,
		kinds:  []*kind{dotagentPhase(), dotagentExecution(), dotagentStages(), dotagentTasks(), dotagentStep()},
		folder: func(checkpoint.Issue) string { return "memory/state" },
		begin:  func(Start) (Beginning, error) { return Beginning{Phases: slices.Clone(dotagentPhases)}, nil },
		texts:  dotagentTexts,
	}
}

func dotagentTexts(r *checkpoint.Record) (Texts, error) {
	p := r.Progress()
	if p.Current == "" {
		return Texts{}, errors.New("the record has no phase")
	}
	id := line(cmp.Or(text(r.Doc(), "workflow.id"), string(r.Issue())))
	last := line(cmp.Or(text(r.Doc(), "workflow.updated_at"), seconds(r.CreatedAt())))
	return Texts{
		Found:    fmt.Sprintf("Detected interrupted workflow: %s\n", id),
		Question: fmt.Sprintf("Resume workflow from %s? [Y/n] ", line(p.Current)),
		Resumed: fmt.Sprintf("Resuming workflow %s from %s phase\nLast activity: %s\nCompleted: %s\n",
			id, line(p.Current), last, line(strings.Join(p.Completed, ", "))),
	}, nil
}

// dotagentPhase returns the kind for phase.json.
func dotagentPhase() *kind {
	return &kind{
		name:  "phase",
		is:    func(m *object) bool { return hasAny(m, "phase_status", "user_checkpoints", "interruption_safe") },
		rules: dotagentRules,
		key:   func(m *object) string { return text(m, "workflow_id") },
		at:    func(m *object) any { return cmp.Or(get(m, "last_updated"), get(m, "started_at")) },
		apply: applyDotagent, update: updateDotagent, fresh: freshDotagent,
		file: func(*object) string { return "phase.json" },
	}
}

func applyDotagent(m *object, r *checkpoint.Record) {
	current, done := text(m, "current_phase"), phasesOf(get(m, "completed_phases"))
	status := statusOf(text(m, "phase_status"))
	if status == completed && len(done) < len(dotagentPhases) || status == pending && len(done) > 0 {
		status = inProgress // the workflow continues
	}
	before := pastOf(r, text(m, "workflow_id"))
	setWorkflow(r, "id", text(m, "workflow_id"), "status", status,
		"started_at", text(m, "started_at"), "updated_at", text(m, "last_updated"), "last_error", text(m, "error"))
	r.Doc().Delete("progress")
	r.SetProgress(checkpoint.Progress{Current: current, Completed: done, Names: dotagentPhases})
	r.SetPhase(current)
	list, _ := get(m, "completed_phases").([]any)
	before.readCompleted(r, list)
	approved, _ := get(m, "user_checkpoints").([]any)
	before.readApprovals(r, approved)
	if safe, ok := get(m, "interruption_safe").(bool); ok && !safe {
		sub(r.Doc(), "workflow").Set("interruption_safe", false)
	}
}

// updateDotagent updates the phases of a document. Newly completed phases get the
// completion time in the record, or the time of the checkpoint.
func updateDotagent(r *checkpoint.Record, m *object) {
	was := m.Clone()
	p := r.Progress()
	moved := p.Current != "" && text(m, "current_phase") != p.Current
	if p.Current != "" {
		putText(m, "current_phase", p.Current)
	}
	before, _ := get(m, "completed_phases").([]any)
	if !slices.Equal(sorted(phasesOf(before)), sorted(p.Completed)) {
		known := map[string]any{}
		for _, e := range slices.Backward(before) {
			known[phaseOf(e)] = e // the first entry of a phase counts
		}
		delete(known, "")
		var list []any
		for _, name := range p.Completed {
			entry, ok := known[name]
			if !ok {
				entry = completedPhase(r, name)
			}
			list = append(list, entry)
		}
		m.Set("completed_phases", list)
	}
	switch s := text(r.Doc(), "workflow.status"); {
	case s == inProgress && (moved && waits(r, p) || !moved && !begun(r, p.Current) && statusOf(text(m, "phase_status")) == pending):
		m.Set("phase_status", pending)
	case s == "" || s == statusOf(text(m, "phase_status")) || s == inProgress && over(text(m, "phase_status")):
	case s == completed:
		m.Set("phase_status", "complete")
	default:
		m.Set("phase_status", s)
	}
	approvalDetails(r, m)
	touch(r, was, m, "last_updated")
}

// waits reports whether the next phase, after a completed phase, has not started.
func waits(r *checkpoint.Record, p checkpoint.Progress) bool {
	return slices.Contains(p.Completed, r.Phase()) && r.Phase() != p.Current && !begun(r, p.Current)
}

func begun(r *checkpoint.Record, phase string) bool {
	return text(r.Doc(), "progress.phases."+phase+".status") != ""
}

func freshDotagent(r *checkpoint.Record) (*object, error) {
	p := r.Progress()
	status := inProgress
	if waits(r, p) {
		status = pending
	}
	if !slices.Contains(dotagentPhases, p.Current) {
		return nil, fmt.Errorf("the phase %q is none of %s", p.Current, strings.Join(dotagentPhases, ", "))
	}
	at := seconds(r.CreatedAt())
	return newObject(
		"workflow_id", cmp.Or(text(r.Doc(), "workflow.id"), string(r.Issue())),
		"started_at", cmp.Or(text(r.Doc(), "workflow.started_at"), at), "last_updated", at,
		"current_phase", p.Current, "phase_status", status,
		"completed_phases", []any{}, "user_checkpoints", []any{}, "interruption_safe", true,
	), nil
}

func dotagentRules(c *checker) {
	c.required("workflow_id", "current_phase", "phase_status")
	c.text("workflow_id")
	c.time("started_at", "last_updated")
	c.oneOf("current_phase", dotagentPhases...)
	c.status("phase_status", dotagentStatuses...)
	if v, ok := c.given("interruption_safe"); ok && v == false {
		c.warn("interruption_safe", "consistency", "false: a write was interrupted")
	} else if _, isBool := v.(bool); ok && !isBool {
		c.fail("interruption_safe", "kind", "want true or false, got %s", shown(v))
	}
	checkOrder(c)
	checkApprovals(c)
}

// checkOrder checks that completed phases have the defined order and that the current phase
// follows.
func checkOrder(c *checker) {
	l, _ := c.list("completed_phases")
	seen := map[string]bool{}
	for i, e := range l {
		at := checkpoint.PathOf("completed_phases", i)
		m, ok := e.(*object)
		if !ok {
			c.fail(at, "kind", "want a mapping with phase, completed_at and output, got %s", shown(e))
			continue
		}
		c.oneOf(at+".phase", dotagentPhases...)
		c.time(at + ".completed_at")
		c.local(at + ".output")
		switch name := text(m, "phase"); {
		case name == "":
			c.fail(at+".phase", "required", "missing")
		case seen[name]:
			c.fail(at+".phase", "order", "%.40s is there twice", name)
		case len(seen) < len(dotagentPhases) && dotagentPhases[len(seen)] != name && slices.Contains(dotagentPhases, name):
			c.fail(at+".phase", "order", "%s is out of order: %s comes first", name, dotagentPhases[len(seen)])
		}
		seen[text(m, "phase")] = true
	}
	checkCurrent(c, len(l))
}

// checkCurrent checks that the current phase comes after the completed phases, or is the last
// completed phase with status complete.
func checkCurrent(c *checker, done int) {
	at := slices.Index(dotagentPhases, text(c.doc, "current_phase"))
	if at < 0 || at == done || at == done-1 && over(text(c.doc, "phase_status")) {
		return
	}
	c.fail("current_phase", "order", "%s, but %d phases are completed", dotagentPhases[at], done)
}

// checkApprovals checks the list of approvals.
func checkApprovals(c *checker) {
	l, _ := c.list("user_checkpoints")
	for i, e := range l {
		at := checkpoint.PathOf("user_checkpoints", i)
		if _, ok := e.(*object); !ok {
			c.fail(at, "kind", "want a mapping with phase and approved_at, got %s", shown(e))
			continue
		}
		c.oneOf(at+".phase", dotagentPhases...)
		c.time(at + ".approved_at")
	}
}
