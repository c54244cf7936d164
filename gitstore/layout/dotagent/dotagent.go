// Package dotagent describes the documents of the dotagent system: the kinds phase and
// execution, and the state files of related tools, phases, tasks and step. It also
// computes the next step of a workflow.
package dotagent

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// phases lists the phases of the dotagent system in order.
var phases = []string{"REQUIREMENTS", "ARCHITECTURE", "IMPLEMENTATION", "VERIFICATION", "REFLECTION"}

// statuses lists the status values of a dotagent phase.
var statuses = []string{workflow.Pending, workflow.InProgress, "complete", workflow.Failed}

// Name is the name of the system.
const Name codec.Name = "dotagent"

// System returns the dotagent system.
func System() *codec.System {
	return &codec.System{
		Name:   Name,
		Kinds:  []*codec.Kind{phaseKind(), executionKind(), phasesKind(), tasksKind(), stepKind()},
		Folder: "memory/state",
		Phases: phases,
		Texts:  resumeTexts,
	}
}

func resumeTexts(r *checkpoint.Record) (codec.Texts, error) {
	p := r.Progress()
	if p.Current == "" {
		return codec.Texts{}, errors.New("the record has no phase")
	}
	at := values.Line(cmp.Or(progress.PointOf(r).Phase, p.Current))
	id := values.Line(cmp.Or(values.Text(r.Doc(), "workflow.id"), string(r.Issue())))
	last := values.Line(cmp.Or(values.Text(r.Doc(), "workflow.updated_at"), workflow.FormatTime(r.CreatedAt())))
	return codec.Texts{
		Found:    fmt.Sprintf("Detected interrupted workflow: %s\n", id),
		Corrupt:  "State appears corrupted. Start fresh? [y/N] ",
		Old:      "Archive the old state and start fresh? [y/N] ",
		Question: fmt.Sprintf("Resume workflow from %s? [Y/n] ", at),
		Resumed: fmt.Sprintf("Resuming workflow %s from %s phase\nLast activity: %s\nCompleted: %s\n",
			id, at, last, values.Line(strings.Join(p.Completed, ", "))),
	}, nil
}

// phaseKind returns the kind for phase.json.
func phaseKind() *codec.Kind {
	return &codec.Kind{
		Name: "phase",
		Is: func(m *checkpoint.Map) bool {
			return values.HasAny(m, "phase_status", "user_checkpoints", "interruption_safe")
		},
		Rules:  rules,
		Key:    func(m *checkpoint.Map) string { return values.Text(m, "workflow_id") },
		At:     func(m *checkpoint.Map) any { return values.First(m, "last_updated", "started_at") },
		Forget: forget, Apply: apply, Update: update, Fresh: fresh,
		File: func(*checkpoint.Map) string { return "phase.json" }, OneLine: true,
	}
}

func apply(m *checkpoint.Map, r *checkpoint.Record) {
	current, done := values.Text(m, "current_phase"), workflow.Phases(values.Get(m, "completed_phases"))
	status := workflow.StatusOf(values.Text(m, "phase_status"))
	if status == workflow.Completed && len(done) < len(phases) || status == workflow.Pending && len(done) > 0 {
		status = workflow.InProgress // the workflow continues
	}
	before := workflow.PastOf(r, values.Text(m, "workflow_id"))
	resumedStale := r.ResumedStale() && values.Text(r.Doc(), "workflow.id") == values.Text(m, "workflow_id") &&
		values.Text(r.Doc(), "workflow.started_at") == values.Text(m, "started_at")
	workflow.Set(r, "id", values.Text(m, "workflow_id"), "status", status,
		"started_at", values.Text(m, "started_at"), "updated_at", values.Text(m, "last_updated"), "last_error", values.Text(m, "error"))
	r.Doc().Delete("progress")
	r.SetProgress(checkpoint.Progress{Current: current, Completed: done, Names: phases})
	r.SetPhase(current)
	readCompleted(before, r, m.Maps("completed_phases"))
	p := r.Doc().MustSub("progress")
	if list := mergeApprovals(before.Progress.List("approved"), m.Maps("user_checkpoints"), ""); len(list) > 0 {
		p.Set("approved", list)
	}
	for _, key := range []string{"approval_required", "awaiting_approval"} {
		if v, ok := before.Progress.Get(key); ok {
			p.Set(key, v)
		}
	}
	if safe, ok := values.Get(m, "interruption_safe").(bool); ok && !safe {
		values.Sub(r.Doc(), "workflow").Set("interruption_safe", false)
	}
	if resumedStale {
		r.SetResumedStale()
	}
}

// update updates the phases of a document. Newly completed phases get the
// completion time in the record, or the time of the checkpoint.
func update(r *checkpoint.Record, m *checkpoint.Map) {
	was := m.Clone()
	p := r.Progress()
	moved := p.Current != "" && values.Text(m, "current_phase") != p.Current
	if p.Current != "" {
		values.PutText(m, "current_phase", p.Current)
	}
	before := m.List("completed_phases")
	if !values.SameTexts(workflow.Phases(before), p.Completed) {
		known := map[string]any{}
		for _, e := range slices.Backward(before) {
			known[workflow.PhaseOf(e)] = e // the first entry of a phase counts
		}
		delete(known, "")
		var list []any
		for _, name := range p.Completed {
			entry, ok := known[name]
			if !ok {
				phase := values.Sub(r.Doc(), "progress.phases."+checkpoint.PathOf("", name))
				done := values.NewMap("phase", name, "completed_at", cmp.Or(values.Text(phase, "timestamp"), workflow.FormatTime(r.CreatedAt())))
				values.PutText(done, "output", values.Text(phase, "output"))
				entry = done
			}
			list = append(list, entry)
		}
		m.Set("completed_phases", list)
	}
	switch s := values.Text(r.Doc(), "workflow.status"); {
	case s == workflow.InProgress && progress.PointOf(r).Complete:
		m.Set("phase_status", "complete")
	case s == workflow.InProgress && (moved && waits(r, p) || !moved && !begun(r, p.Current) && workflow.StatusOf(values.Text(m, "phase_status")) == workflow.Pending):
		m.Set("phase_status", workflow.Pending)
	case s == "" || s == workflow.StatusOf(values.Text(m, "phase_status")) || s == workflow.InProgress && workflow.IsDone(values.Text(m, "phase_status")):
	case s == workflow.Completed:
		m.Set("phase_status", "complete")
	default:
		m.Set("phase_status", s)
	}
	said, approved := m.List("user_checkpoints"), values.Sub(r.Doc(), "progress").Maps("approved")
	if all := mergeApprovals(said, approved, workflow.FormatTime(r.CreatedAt())); len(all) > len(said) {
		m.Set("user_checkpoints", all)
	}
	workflow.Touch(r, was, m, "last_updated")
}

// waits reports whether the next phase, after a completed phase, has not started.
func waits(r *checkpoint.Record, p checkpoint.Progress) bool {
	return slices.Contains(p.Completed, r.Phase()) && r.Phase() != p.Current && !begun(r, p.Current)
}

func begun(r *checkpoint.Record, phase string) bool {
	return values.Text(r.Doc(), "progress.phases."+phase+".status") != ""
}

func fresh(r *checkpoint.Record) (*checkpoint.Map, error) {
	p := r.Progress()
	status := workflow.InProgress
	if waits(r, p) {
		status = workflow.Pending
	}
	current := p.Current
	if current == "" && len(p.Completed) > 0 {
		current = p.Completed[len(p.Completed)-1]
	}
	if !slices.Contains(phases, current) {
		return nil, fmt.Errorf("the phase %q is not one of %s", current, strings.Join(phases, ", "))
	}
	at := workflow.FormatTime(r.CreatedAt())
	return values.NewMap(
		"workflow_id", cmp.Or(values.Text(r.Doc(), "workflow.id"), string(r.Issue())),
		"started_at", cmp.Or(values.Text(r.Doc(), "workflow.started_at"), at), "last_updated", at,
		"current_phase", current, "phase_status", status,
		"completed_phases", []any{}, "user_checkpoints", []any{}, "interruption_safe", true,
	), nil
}

func rules(c *codec.Checker) {
	c.Required("workflow_id", "current_phase", "phase_status")
	c.Text("workflow_id")
	c.Time("started_at", "last_updated")
	c.OneOf("current_phase", phases...)
	c.Status("phase_status", statuses...)
	if safe, ok := c.Bool("interruption_safe"); ok && !safe {
		c.Warn("interruption_safe", "consistency", "false: a write was interrupted")
	}
	checkOrder(c)
	checkApprovals(c)
}

// checkOrder checks that completed phases have the defined order and that the current phase
// follows.
func checkOrder(c *codec.Checker) {
	l, _ := c.List("completed_phases")
	seen := map[string]bool{}
	for i, e := range l {
		at := checkpoint.PathOf("completed_phases", i)
		m, ok := e.(*checkpoint.Map)
		if !ok {
			c.Fail(at, "kind", "want a mapping with phase, completed_at and output, got %s", codec.Shown(e))
			continue
		}
		c.OneOf(at+".phase", phases...)
		c.Time(at + ".completed_at")
		c.Local(at + ".output")
		switch name := values.Text(m, "phase"); {
		case name == "":
			c.Fail(at+".phase", "required", "missing")
		case seen[name]:
			c.Fail(at+".phase", "order", "%.40s is a duplicate", name)
		case len(seen) < len(phases) && phases[len(seen)] != name && slices.Contains(phases, name):
			c.Fail(at+".phase", "order", "%s is out of order: %s comes first", name, phases[len(seen)])
		}
		seen[values.Text(m, "phase")] = true
	}
	// The current phase comes after the completed phases, or is the last of them.
	at, done := slices.Index(phases, values.Text(c.Doc, "current_phase")), len(l)
	if at >= 0 && at != done && (at != done-1 || !workflow.IsDone(values.Text(c.Doc, "phase_status"))) {
		c.Fail("current_phase", "order", "%s, but %d phases are completed", phases[at], done)
	}
}

func checkApprovals(c *codec.Checker) {
	l, _ := c.List("user_checkpoints")
	for i, e := range l {
		at := checkpoint.PathOf("user_checkpoints", i)
		if _, ok := e.(*checkpoint.Map); !ok {
			c.Fail(at, "kind", "want a mapping with phase and approved_at, got %s", codec.Shown(e))
			continue
		}
		c.OneOf(at+".phase", phases...)
		c.Time(at + ".approved_at")
	}
}
