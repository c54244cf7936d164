package claude

import (
	"cmp"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// complete returns the document of a state: either a document without some of its keys, or
// the mapping workflow_state alone. A document of the same workflow before keeps its id and
// its start.
func complete(state, before *checkpoint.Map, w codec.Workflow) (*checkpoint.Map, []codec.Problem) {
	nested := values.Get(state, "workflow_state") != nil
	inner, isMap := values.Get(state, "workflow_state").(*checkpoint.Map)
	if !isMap {
		inner = state.Clone() // the rules report a workflow_state that is no mapping
	}
	project := cmp.Or(projectOf(state), snake(w.Project))
	if problems := contradictions(state, project, w); len(problems) > 0 {
		return nil, problems
	}
	if !values.Has(inner, "project_name") {
		inner.Set("project_name", project)
	}
	if !continues(before, w.Type, project) {
		before = checkpoint.NewMap()
	}
	now := workflow.FormatTime(w.Now)
	created := cmp.Or(values.Text(state, "created_at"), values.Text(before, "created_at"), now)
	id := cmp.Or(values.Text(state, "checkpoint_id"), values.Text(before, "checkpoint_id"), newID(w.Type, project, created))
	m := values.NewMap("checkpoint_id", id, "workflow_type", w.Type,
		"workflow_description", values.Text(before, "workflow_description"),
		"created_at", created, "updated_at", now, "status", workflow.InProgress,
		"current_phase", 0, "total_phases", 0, "completed_phases", []any{}, "workflow_state", inner, "last_error", nil)
	for key, v := range state.All() {
		if v != nil && (nested || values.Has(m, key)) {
			m.Set(key, v)
		}
	}
	m.Set("updated_at", now)
	return m, nil
}

// contradictions returns the problems of a state that names no project, or another
// workflow.
func contradictions(state *checkpoint.Map, project string, w codec.Workflow) []codec.Problem {
	kind := values.Text(state, "workflow_type")
	switch {
	case kind != "" && kind != w.Type:
		return []codec.Problem{{Path: "workflow_type", Rule: "consistency", Msg: fmt.Sprintf("want %.60q, got %.60q", w.Type, kind)}}
	case project == "":
		return []codec.Problem{{Path: "project_name", Rule: "required", Msg: "missing, and workflow_state has none either"}}
	case w.Project != "" && snake(project) != snake(w.Project):
		return []codec.Problem{{Path: "project_name", Rule: "consistency", Msg: fmt.Sprintf("want %.60q, got %.60q", w.Project, project)}}
	}
	return nil
}

// continues reports whether a document belongs to a workflow that is not over.
func continues(m *checkpoint.Map, kind, project string) bool {
	switch workflow.StatusOf(values.Text(m, "status")) {
	case workflow.Completed, workflow.Failed, workflow.Aborted:
		return false
	}
	return values.Text(m, "workflow_type") == kind && snake(projectOf(m)) == snake(project)
}

// newID returns the id of a workflow that began at a time.
func newID(kind, project, began string) string {
	at, err := checkpoint.ParseTime(began)
	if err != nil {
		return ""
	}
	return kind + "_" + snake(project) + "_" + at.UTC().Format("20060102_150405")
}
