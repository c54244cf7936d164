package claude

import (
	"cmp"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// parallelKind returns the kind for checkpoints before parallel operations.
func parallelKind() *codec.Kind {
	return &codec.Kind{
		Name: "parallel",
		Is:   func(m *checkpoint.Map) bool { return values.Has(m, "operation_type", "operations") },
		Rules: func(c *codec.Checker) {
			c.Required("checkpoint_id", "operation_type", "created_at", "status")
			c.Text("checkpoint_id", "operation_type", "plan_path")
			c.Time("created_at")
			c.List("operations")
			c.Status("status", append([]string{"pre_execution"}, statuses...)...)
			c.Local("plan_path")
			c.Named(values.Text(c.Doc, "checkpoint_id"))
		},
		Key: func(m *checkpoint.Map) string { return projectIn(values.Text(m, "checkpoint_id"), "") },
		ID:  func(m *checkpoint.Map) string { return values.Text(m, "checkpoint_id") },
		At:  func(m *checkpoint.Map) any { return values.Get(m, "created_at") },
		Trigger: func(m *checkpoint.Map) checkpoint.Trigger {
			if workflow.StatusOf(values.Text(m, "status")) == workflow.InProgress {
				return checkpoint.BeforeParallel
			}
			return checkpoint.PhaseTransition
		},
		Apply: func(m *checkpoint.Map, r *checkpoint.Record) {
			workflow.Set(r, "type", "parallel_"+values.Text(m, "operation_type"), "status", workflow.StatusOf(values.Text(m, "status")),
				"plan_path", values.Text(m, "plan_path"), "started_at", values.Text(m, "created_at"))
		},
		Update: func(r *checkpoint.Record, m *checkpoint.Map) { workflow.UpdateStatus(r, m, "status") },
		File:   func(m *checkpoint.Map) string { return values.Text(m, "checkpoint_id") + ".json" },
	}
}

// supervisorKind returns the kind for the state of a supervisor: its parallel workers
// and their aggregated results. Only the supervisor uses these results.
func supervisorKind() *codec.Kind {
	return &codec.Kind{
		Name: "supervisor",
		Is: func(m *checkpoint.Map) bool {
			return m.List("workers") != nil && values.Has(m, "aggregated_metadata")
		},
		Rules: func(c *codec.Checker) {
			c.Text("supervisor_id", "supervisor_name", "workflow_id", "plan_path")
			c.Time("timestamp", "created_at", "updated_at")
			c.Status("status", statuses...)
			c.Mapping("aggregated_metadata")
			c.Local("plan_path")
		},
		Key: func(m *checkpoint.Map) string { return values.Text(m, "workflow_id", "supervisor_id") },
		ID:  func(m *checkpoint.Map) string { return values.Text(m, "checkpoint_id") },
		At:  func(m *checkpoint.Map) any { return values.First(m, "updated_at", "timestamp", "created_at") },
		Apply: func(m *checkpoint.Map, r *checkpoint.Record) {
			workflow.Set(r, "id", values.Text(m, "workflow_id", "supervisor_id"), "type", "supervisor", "description", values.Text(m, "supervisor_name"),
				"status", workflow.StatusOf(values.Text(m, "status")), "plan_path", values.Text(m, "plan_path"))
		},
		Update: func(r *checkpoint.Record, m *checkpoint.Map) {
			if values.Has(m, "status") {
				workflow.UpdateStatus(r, m, "status")
			}
		},
		File: func(m *checkpoint.Map) string {
			return cmp.Or(values.Text(m, "supervisor_id"), values.Text(m, "workflow_id"), "supervisor") + ".json"
		},
	}
}

// snapshotStates are the mappings of a snapshot that can have progress.
var snapshotStates = []string{"state", "state_snapshot"}

// snapshotKind returns the kind for files of related tools in the same folder: a name,
// a time, and an opaque state.
func snapshotKind() *codec.Kind {
	return &codec.Kind{
		Name: "snapshot",
		Is: func(m *checkpoint.Map) bool {
			return values.Has(m, "timestamp") && (values.HasAny(m, "checkpoint_id", "id") && (m.Sub("state") != nil || m.Sub("state_snapshot") != nil) || values.Has(m, "session_id", "git"))
		},
		Version: func(m *checkpoint.Map) string { return values.Text(m, "version") },
		Rules: func(c *codec.Checker) {
			c.Required("timestamp")
			c.Time("timestamp")
			c.Text("id", "checkpoint_id", "name", "message", "description", "session_id", "version")
			c.Local("project", "cwd")
			for _, path := range []string{"git_commit", "metadata.git_commit"} {
				v, ok := c.Given(path)
				if s := values.AsText(v); ok && (len(s) < 7 || len(s) > 64 || strings.Trim(s, "0123456789abcdef") != "") {
					c.Warn(path, "form", "%s is no commit's hash", codec.Shown(v))
				}
			}
			c.Named(values.Text(c.Doc, "checkpoint_id", "id"))
			for _, key := range snapshotStates {
				_, unread := workflow.ReadProgress(values.Sub(c.Doc, key))
				for _, name := range unread {
					c.Warn(checkpoint.PathOf(key, name), "progress", "kept, but its progress is not read")
				}
			}
		},
		Key: func(m *checkpoint.Map) string { return values.Text(m, "feature_id") },
		ID:  func(m *checkpoint.Map) string { return values.Text(m, "checkpoint_id", "id") },
		At:  func(m *checkpoint.Map) any { return values.Get(m, "timestamp") },
		Apply: func(m *checkpoint.Map, r *checkpoint.Record) {
			workflow.Set(r, "description", values.Text(m, "message", "description", "name"), "updated_at", values.Text(m, "timestamp"))
			for _, key := range snapshotStates {
				if p, _ := workflow.ReadProgress(values.Sub(m, key)); p.Current != "" {
					workflow.PutProgress(r, p)
				}
			}
		},
	}
}
