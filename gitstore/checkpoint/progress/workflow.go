// Package progress applies phase transitions to the record of a workflow.
//
// Readers apart, each function is one transition: it changes the given record, or returns
// an error and leaves the record unchanged. Transitions have no side effects. If a save
// loses a race, it applies its transition again to the newer record.
//
// Callers identify a phase by number, from 1, or by name. If the workflow has names, a
// number is the position of a name. Stored keys:
//
//	workflow:
//	  type, project, description, plan_path
//	  status        in_progress, completed, failed or aborted
//	  started_at, updated_at, finished_at, last_error
//	  abort_info    {decision, failed_phase, timestamp, reason, error_description}
//	progress:
//	  current       the first unfinished phase; after the last numbered phase the
//	                next number, after the last named phase empty
//	  completed     a set, in phase order
//	  skipped       skipped phases
//	  names, total  all phases by name, or their number
//	  phases        by phase: status, attempt, failures, started_at, timestamp,
//	                duration_minutes, summary, artifacts ({path, size, digest,
//	                title}), output, output_digest, error, reason
//	  replan_history  {phase, reason, timestamp, forced}, append-only
//	  approved, awaiting_approval, approval_required
//
// workflow_state holds the phase of the checkpoint itself: a checkpoint at the end of
// phase 2 belongs to phase 2, while phase 3 is already current.
package progress

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
)

// A Workflow is the input of Begin.
type Workflow struct {
	ID, Type, Project, Description, PlanPath string

	Names  []string // phase names in order
	Total  int      // number of unnamed phases, 0 if unknown
	Layout string   // layout of the workflow's system, "" for no layout
}

// Begin starts a workflow in a record and replaces a finished workflow. It fails with
// *RefusedError if a workflow is in progress.
func Begin(r *checkpoint.Record, w Workflow, at time.Time) error {
	p := r.Progress()
	begun := r.Doc().Sub("workflow").Len() > 0 && r.WorkflowStatus() != "" || p.Total > 0
	if begun && !Over(r) && !Complete(r) {
		state := "status " + r.WorkflowStatus()
		if p.Total > 0 {
			state = fmt.Sprintf("%d of %d phases completed", len(p.Completed), p.Total)
		}
		return &RefusedError{
			Code: failure.Refused, Issue: r.Issue(), Reason: "a workflow is already in progress (" + state + ")",
			Instead: []Way{{"resume"}, {"finish", "--status", "abandoned"}},
		}
	}
	forget(r)
	m := r.Doc().MustSub("workflow")
	for _, pair := range [][2]string{
		{"id", w.ID},
		{"type", w.Type},
		{"project", w.Project},
		{"description", w.Description},
		{"plan_path", w.PlanPath},
		{"status", InProgress},
		{"started_at", checkpoint.FormatTime(at)},
		{"updated_at", checkpoint.FormatTime(at)},
	} {
		putText(m, pair[0], pair[1])
	}
	if w.Layout != "" {
		r.Doc().MustSub("layout").Set("name", w.Layout)
	}
	p = checkpoint.Progress{Total: w.Total, Names: w.Names}
	switch {
	case len(w.Names) > 0:
		p.Total, p.Current = 0, w.Names[0]
	case w.Total > 0:
		p.Current = strconv.Itoa(1)
	}
	r.SetProgress(p)
	return nil
}

// Over reports whether the workflow is completed, failed or aborted.
func Over(r *checkpoint.Record) bool {
	switch r.WorkflowStatus() {
	case Completed, Failed, Aborted:
		return true
	}
	return false
}

// A Query selects a workflow by type, text, plan or id.
type Query struct {
	Type    string   // type of the workflow; "" matches nothing
	Project string   // with Type, project of the workflow; "" for any
	Text    string   // description, project or plan; "" matches nothing
	Plan    string   // plan path relative to the root; "" matches nothing
	IDs     []string // workflow ids or issue keys
}

// Match returns the quality of a match between record and query. Type, plan, id, issue and
// description score 3, project 2, the plan as text 1, and no match 0.
func (q Query) Match(r *checkpoint.Record) int {
	w := r.Doc().Sub("workflow")
	plan := r.PlanPath()
	switch text := plain(q.Text); {
	case q.Type != "":
		if w.Text("type") != q.Type || q.Project != "" && !sameProject(w.Text("project"), q.Project) {
			return 0
		}
		return 3
	case q.Plan != "" && samePlan(plan, q.Plan), w.Text("id") != "" && slices.Contains(q.IDs, w.Text("id")), slices.Contains(q.IDs, string(r.Issue())):
		return 3
	case text == "":
		return 0
	case text == plain(w.Text("description")):
		return 3
	case sameProject(w.Text("project"), q.Text):
		return 2
	case plan != "" && samePlan(plan, q.Text):
		return 1
	}
	return 0
}

// sameProject reports whether two names of projects are equal. A space equals an
// underscore.
func sameProject(a, b string) bool {
	return a != "" && plain(strings.ReplaceAll(a, "_", " ")) == plain(strings.ReplaceAll(b, "_", " "))
}

// Alike reports whether two different project names share a prefix: one name starts with
// the other.
func Alike(a, b string) bool {
	a, b = strings.ReplaceAll(plain(a), " ", "_"), strings.ReplaceAll(plain(b), " ", "_")
	return a != "" && b != "" && a != b && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}

// Settle repairs the phase lists after a merge of two records. A phase completed on one
// side is removed from the skipped and remaining phases.
func Settle(r *checkpoint.Record) {
	p := r.Progress()
	if len(p.Completed)+len(p.Skipped)+len(p.Names) > MaxPhases {
		return
	}
	p.Completed = inOrder(p, slices.Clone(p.Completed))
	p.Skipped = slices.DeleteFunc(p.Skipped, func(s string) bool { return slices.Contains(p.Completed, s) })
	p.Remaining = slices.DeleteFunc(p.Remaining, p.Over)
	if p.Over(p.Current) {
		follow(r, p, p.Current)
		return
	}
	store(r, p)
}

// A NothingError reports that a transition changes nothing, because the record already
// has its result.
type NothingError struct{ Reason string }

func (e *NothingError) Error() string { return e.Reason }

// A RefusedError reports a transition that the workflow does not permit. Its Code is the exit
// code: failure.Usage for a phase that the workflow does not have, failure.Refused for a state that
// forbids the transition, failure.NeedsAnswer for a pending approval, and failure.Limit for a
// reached limit of retries or replans.
type RefusedError struct {
	Code    int
	Issue   checkpoint.Issue
	Reason  string
	History []string // of a limit: time and reason of each occurrence, oldest first
	Over    bool     // phase already completed or skipped
	Instead []Way    // suggested commands, never a restart of the workflow
}

func (e *RefusedError) Error() string {
	return strings.Join(append([]string{e.Reason}, e.History...), "\n  ")
}

func (e *RefusedError) Exit() (code int, hint string) {
	return e.Code, Alternatives(e.Issue, e.Instead...)
}

// forget removes the sections of a former workflow.
func forget(r *checkpoint.Record) {
	before := false
	for _, key := range []string{"workflow", "progress", "tasks", "stage", "pipeline", "layout", "execution_graph"} {
		_, ok := r.Doc().Get(key)
		before = before || ok
		r.Doc().Delete(key)
	}
	state := r.Doc().Sub("workflow_state")
	for _, key := range []string{"current_phase", "phase_started_at", "phase_attempt", "phase_attempts"} {
		if before {
			state.Delete(key)
		}
	}
}

// putText sets a text, but leaves the value unchanged if the text is empty.
func putText(m *checkpoint.Map, key, s string) {
	if s != "" {
		m.Set(key, s)
	}
}

// plain returns s in lower case with single spaces.
func plain(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

func samePlan(a, b string) bool { return a != "" && path.Clean(a) == path.Clean(b) }

// phaseSection returns the section of a phase and creates it if necessary.
func phaseSection(r *checkpoint.Record, phase string) *checkpoint.Map {
	return r.Doc().MustSub("progress").MustSub("phases").MustSub(phase)
}

func without(list []string, s string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(t string) bool { return t == s })
}

// touch updates the time of the workflow, if the record has a workflow, and sets its
// status to in_progress.
func touch(r *checkpoint.Record, at time.Time) {
	if w := r.Doc().Sub("workflow"); w != nil {
		w.Set("status", InProgress)
		w.Set("updated_at", checkpoint.FormatTime(at))
	}
}

// enter sets the phase of the checkpoint.
func enter(r *checkpoint.Record, phase string, at time.Time) {
	if phase != r.Phase() {
		r.EnterPhase(phase)
		r.SetPhaseStartedAt(at)
	}
}

// minutes returns a duration in minutes, rounded to hundredths. A negative duration,
// after a clock change, becomes 0.
func minutes(d time.Duration) any {
	m := math.Round(max(d.Minutes(), 0)*100) / 100
	if m == math.Trunc(m) {
		return int(m)
	}
	return m
}

// already returns a NothingError about a phase.
func already(phase, how string) error {
	return &NothingError{fmt.Sprintf("phase %s is %s already", phase, how)}
}
