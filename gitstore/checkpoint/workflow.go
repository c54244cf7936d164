package checkpoint

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint/document"
)

// Fields of the workflow, in its section or where other systems have them. A text is "", and a time
// zero, if it is absent. The status is that of the document, unconverted.
func (r *Record) WorkflowStatus() string     { return r.firstText("workflow.status", "status") }
func (r *Record) WorkflowStarted() time.Time { return moment(r.doc.Sub("workflow"), "started_at") }
func (r *Record) WorkflowUpdated() time.Time { return moment(r.doc.Sub("workflow"), "updated_at") }
func (r *Record) PlanDigest() string         { return r.doc.Sub("workflow").Text("plan_digest") }
func (r *Record) Layout() string             { return r.doc.Sub("layout").Text("name") }

// Subject returns the title, otherwise the workflow's description.
func (r *Record) Subject() string {
	return r.firstText("issue_snapshot.title", "workflow.description", "description")
}

// Command returns the command that started the workflow. In the claude layout it is the
// workflow's type.
func (r *Record) Command() string {
	paths := []string{"workflow.command", "command_name", "state_machine.workflow_config.command"}
	if r.Layout() == "claude" {
		paths = append(paths, "workflow.type", "type")
	}
	return r.firstText(paths...)
}

// Scope returns the scope of the workflow, for example research-and-plan.
func (r *Record) Scope() string {
	return r.firstText("workflow.scope", "scope", "state_machine.workflow_config.scope")
}

// LastError returns the last error of the workflow.
func (r *Record) LastError() string {
	return r.firstText("workflow.last_error", "last_error", "error_state.last_error")
}

// PlanPath returns the path of the plan.
func (r *Record) PlanPath() string {
	return r.firstText("workflow.plan_path", "plan_path", "workflow_state.plan_path")
}

// TestsPassing reports whether the last test run passed, true if unknown.
func (r *Record) TestsPassing() bool { return r.workflowBool("tests_passing", true) }

// WriteInterrupted reports whether a write of the recorded state was interrupted.
func (r *Record) WriteInterrupted() bool { return !r.workflowBool("interruption_safe", true) }

// ResumedStale reports whether the workflow was resumed from a checkpoint over the age limit.
func (r *Record) ResumedStale() bool { return r.workflowBool("resumed_stale", false) }

// SetResumedStale records a resume from a checkpoint over the age limit.
func (r *Record) SetResumedStale() { r.doc.MustSub("workflow").Set("resumed_stale", true) }

// SetPlanDigest sets workflow.plan_digest; an empty text deletes it.
func (r *Record) SetPlanDigest(digest string) {
	if digest != "" || r.doc.Sub("workflow") != nil {
		r.doc.MustSub("workflow").SetText("plan_digest", digest)
	}
}

// SetPlanPhases sets workflow.plan_phases, the number of phases in the plan. It is the
// total of a workflow that states no total.
func (r *Record) SetPlanPhases(n int) { r.doc.MustSub("workflow").Set("plan_phases", n) }

// EnterPhase switches to another phase and counts its attempts. The attempts of former
// phases are stored in workflow_state.phase_attempts, their batches in
// execution_graph.phases.
func (r *Record) EnterPhase(phase string) {
	m := r.doc.MustSub("workflow_state")
	left := r.Phase()
	if left != "" {
		m.MustSub("phase_attempts").Set(left, max(r.PhaseAttempt(), 1))
	}
	r.SetPhase(phase)
	before := int(max(r.state().Sub("phase_attempts").Int(phase), 0))
	if before == 0 && slices.Contains(r.Progress().Completed, phase) {
		before = 1 // completed before attempts were counted
	}
	r.SetPhaseAttempt(before + 1)
	r.SwitchBatches(left, phase)
}

// batchKeys are the keys of execution_graph that belong to the current phase.
var batchKeys = []string{"completed_batches", "current_batch"}

// SwitchBatches moves the batches of a phase to execution_graph.phases, and takes the
// batches of another phase back from there. Batches without a phase stay.
func (r *Record) SwitchBatches(from, to string) {
	graph, ok := r.doc.Child("execution_graph")
	if !ok || from == "" || from == to {
		return
	}
	if v, found := graph.Get("phases"); found && v != nil {
		if _, ok := v.(*Map); !ok {
			return // not written by this program
		}
	}
	phases := graph.Sub("phases")
	back, batches := phases.Sub(to), NewMap()
	for _, key := range batchKeys {
		if v, ok := graph.Get(key); ok {
			batches.Set(key, v)
		}
		graph.Delete(key)
		if v, ok := back.Get(key); ok {
			graph.Set(key, v)
		}
	}
	if phases == nil {
		phases = NewMap()
	}
	phases.Delete(to)
	if batches.Len() > 0 {
		phases.Set(from, batches)
	}
	graph.Delete("phases")
	if phases.Len() > 0 {
		graph.Set("phases", phases)
	}
}

// Awaiting returns the phases with a pending approval, sorted and without duplicates.
// These are the phases in progress.awaiting_approval, which is a text or a list. The
// current phase is included if it is listed in progress.approval_required and is not
// approved yet.
func (r *Record) Awaiting() []string {
	m := r.doc.Sub("progress")
	phases := textOrList(m, "awaiting_approval")
	now := r.Progress().Current
	if now == "" {
		now = r.Phase()
	}
	if slices.Contains(textOrList(m, "approval_required"), now) && !slices.Contains(r.Approved(), now) {
		phases = append(phases, now)
	}
	slices.Sort(phases)
	return slices.Compact(phases)
}

// Await records that a phase or task awaits approval, unless it is already approved.
func (r *Record) Await(phase string) {
	m := r.doc.MustSub("progress")
	waiting := textOrList(m, "awaiting_approval")
	if !slices.Contains(waiting, phase) && !slices.Contains(r.Approved(), phase) {
		m.Set("awaiting_approval", append(waiting, phase))
	}
}

// Approved returns the phases in progress.approved.
func (r *Record) Approved() []string {
	var phases []string
	for _, m := range r.doc.Sub("progress").Maps("approved") {
		phases = append(phases, m.Text("phase"))
	}
	return phases
}

// Approve records the approval of a phase and removes its pending approval.
func (r *Record) Approve(phase string, at time.Time) {
	m := r.doc.MustSub("progress")
	left := slices.DeleteFunc(textOrList(m, "awaiting_approval"), func(s string) bool { return s == phase })
	if m.Set("awaiting_approval", left); len(left) == 0 {
		m.Delete("awaiting_approval")
	}
	m.Set("approved", append(slices.Clone(m.List("approved")), &Map{Entries: []document.Entry{
		{Key: "phase", Value: phase},
		{Key: "approved_at", Value: FormatTime(at)},
	}}))
}

// Progress is the state of a workflow's phases. Phases are texts, because real phases
// include "3", "4b" and names.
type Progress struct {
	Current   string   `record:"current"`
	Completed []string `record:"completed,keep"`
	Skipped   []string `record:"skipped"`
	Total     int      `record:"total"`
	Names     []string `record:"names"`
	Remaining []string `record:"remaining"`
}

// Progress returns the progress section. If remaining is absent, it is derived from names
// or total.
func (r *Record) Progress() (p Progress) {
	m := r.doc.Sub("progress")
	Load(m, &p)
	p.Skipped = textOrList(m, "skipped")
	if p.Total == 0 {
		p.Total = len(p.Names)
	}
	if p.Total == 0 {
		p.Total = int(r.doc.Sub("workflow").Int("plan_phases"))
	}
	if len(p.Names) == 0 { // some programs write 1.0 for phase 1
		p.Current = wholeNumber(p.Current)
		for _, list := range [][]string{p.Completed, p.Skipped, p.Remaining} {
			for i := range list {
				list[i] = wholeNumber(list[i])
			}
		}
	}
	if _, ok := m.Get("remaining"); !ok {
		p.Remaining = p.open()
	}
	return p
}

// Over reports whether a phase is completed or skipped.
func (p Progress) Over(phase string) bool {
	return slices.Contains(p.Completed, phase) || slices.Contains(p.Skipped, phase)
}

// SetProgress replaces the progress section, except unknown keys.
func (r *Record) SetProgress(p Progress) { Store(r.doc.MustSub("progress"), p) }

// firstText returns the first text at the given paths that is not empty.
func (r *Record) firstText(paths ...string) string {
	for _, path := range paths {
		v, _ := r.doc.Lookup(path)
		if s := document.AsText(v); s != "" {
			return s
		}
	}
	return ""
}

func (r *Record) workflowBool(key string, absent bool) bool {
	return boolean(r.doc.Sub("workflow"), key, boolean(r.doc, key, absent))
}

// textOrList returns a single text as a list, or a list of texts.
func textOrList(m *Map, key string) []string {
	if s := m.Text(key); s != "" {
		return []string{s}
	}
	return m.Texts(key)
}

// wholeNumber returns "1" for "1.0", and other texts unchanged.
func wholeNumber(s string) string {
	n, fraction, _ := strings.Cut(s, ".")
	if fraction == "" || strings.Trim(fraction, "0") != "" {
		return s
	}
	if _, err := strconv.Atoi(n); err != nil {
		return s
	}
	return n
}

// maxPhases limits the list derived from a total.
const maxPhases = 1000

// open returns the phases that are neither completed nor skipped.
func (p Progress) open() []string {
	all := p.Names
	if len(all) == 0 {
		for n := range min(max(p.Total, 0), maxPhases) {
			all = append(all, strconv.Itoa(n+1))
		}
	}
	done := map[string]bool{}
	for _, name := range slices.Concat(p.Completed, p.Skipped) {
		done[name] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return done[name] })
}

// OpenTaskOf returns the number, from 1, of the first unfinished task in a batch. If the
// batch has no task list, it returns 1.
func (r *Record) OpenTaskOf(batch int) int {
	graph := r.doc.Sub("execution_graph")
	for _, b := range graph.Maps("batches") {
		if b.Int("batch_id") != int64(batch) {
			continue
		}
		for k, id := range b.Texts("tasks") {
			status := graph.Sub("node_states").Sub(id).Text("status")
			if !slices.Contains([]string{"complete", "completed", "done", "skipped"}, status) {
				return k + 1
			}
		}
	}
	return 1
}
