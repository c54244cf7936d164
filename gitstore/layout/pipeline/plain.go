package pipeline

import (
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// Keys of a plain checkpoint beside those of progress.
var (
	summaryKeys  = []string{"summary", "context_summary"}
	decisionKeys = []string{"decisions", "key_decisions"}
	nextKeys     = []string{"resume_from", "next_step", "nextStep", "next"}
	fileKeys     = []string{"files", "files_modified", "filesModified", "artifacts"}
)

// plainKind returns the kind for an orchestrator's plain checkpoint in any folder: a phase with a
// summary, decisions, files or the next step.
func plainKind() *codec.Kind {
	return &codec.Kind{
		Name: "plain", Rest: true,
		Is: func(m *checkpoint.Map) bool {
			has := func(keys []string) bool { return values.HasAny(m, keys...) }
			return values.Text(m, "phase", "current_phase", "currentPhase", "stage", "step") != "" &&
				slices.ContainsFunc([][]string{summaryKeys, decisionKeys, nextKeys, fileKeys}, has)
		},
		Rules: func(c *codec.Checker) {
			c.Text("status")
			c.Time("timestamp", "created_at", "updated_at", "started_at")
			c.Progress()
		},
		Key: func(m *checkpoint.Map) string {
			return values.Text(m, "workflow_id", "issue", "issue_id", "story_id", "project")
		},
		At: func(m *checkpoint.Map) any { return values.First(m, "updated_at", "timestamp", "created_at") },
		Apply: func(m *checkpoint.Map, r *checkpoint.Record) {
			workflow.Set(r, "project", values.Text(m, "project"), "description", values.Text(m, "task", "description", "title", "goal"),
				"status", workflow.StatusOf(values.Text(m, "status")), "started_at", values.Text(m, "started_at"))
			p, _ := workflow.ReadProgress(m)
			workflow.PutProgress(r, p)
			if text := values.Text(m, summaryKeys...); text != "" {
				r.Doc().Set("context_summary", text)
			}
			if list := decisionsOf(m); len(list) > 0 {
				r.Doc().Set("key_decisions", list)
			}
			if next := values.Text(m, nextKeys...); next != "" {
				r.SetResumeFrom(next)
			}
		},
	}
}

// decisionsOf returns the decisions of a plain checkpoint: a list of texts or of mappings with
// a text, or a mapping of names to texts.
func decisionsOf(m *checkpoint.Map) (list []string) {
	for _, key := range decisionKeys {
		switch v := values.Get(m, key).(type) {
		case []any:
			for _, e := range v {
				said, _ := e.(*checkpoint.Map)
				if text := values.AsText(e) + values.Text(said, "decision", "summary", "text", "title"); text != "" {
					list = append(list, text)
				}
			}
		case *checkpoint.Map:
			for name, e := range v.All() {
				if text := values.AsText(e); text != "" {
					list = append(list, name+": "+text)
				}
			}
		case string:
			list = append(list, v)
		}
	}
	return list
}
