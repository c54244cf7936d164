package progress

import (
	"fmt"
	"strconv"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// A Workflow is the input of Begin.
type Workflow struct {
	ID, Type, Project, Description, PlanPath string

	Names    []string // phase names in order
	Total    int      // number of unnamed phases, 0 if unknown
	Approval []string // phases that require a person's approval
	Layout   string   // layout of the workflow's system, "" for no layout
}

// Begin starts a workflow in a record and replaces a finished workflow. It fails with
// *RefusedError if a workflow is in progress.
func Begin(r *checkpoint.Record, w Workflow, at time.Time) error {
	if under := underWay(r); under != "" {
		return &RefusedError{
			Issue: r.Issue(), Reason: "a workflow is under way: " + under,
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
	p := checkpoint.Progress{Total: w.Total, Names: w.Names}
	switch {
	case len(w.Names) > 0:
		p.Total, p.Current = 0, w.Names[0]
	case w.Total > 0:
		p.Current = strconv.Itoa(1)
	}
	r.SetProgress(p)
	if len(w.Approval) > 0 {
		r.Doc().MustSub("progress").Set("approval_required", w.Approval)
	}
	return nil
}

// underWay describes the unfinished workflow, "" if no workflow is in progress.
func underWay(r *checkpoint.Record) string {
	p := r.Progress()
	begun := r.Doc().Sub("workflow").Len() > 0 && r.WorkflowStatus() != "" || p.Total > 0
	switch {
	case !begun, Over(r), Complete(r):
		return ""
	case p.Total > 0:
		return fmt.Sprintf("%d of %d phases are completed", len(p.Completed), p.Total)
	}
	return fmt.Sprintf("its status is %s", r.WorkflowStatus())
}

// Over reports whether the workflow is completed, failed or aborted.
func Over(r *checkpoint.Record) bool {
	switch r.WorkflowStatus() {
	case Completed, Failed, Aborted:
		return true
	}
	return false
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
