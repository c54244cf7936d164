package claude

import (
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// workflowKind returns the kind for documents of the planned version 3.0.
func workflowKind() *codec.Kind {
	return &codec.Kind{
		Name: "workflow",
		Is: func(m *checkpoint.Map) bool {
			return values.Has(m, "workflow_data") || values.Has(m, "command_name") && values.HasAny(m, "workflow_id", "state_file")
		},
		Version: func(m *checkpoint.Map) string { return values.Text(m, "version") },
		Reads:   func(version string) string { return unreadVersions(version, "3") },
		Rules: func(c *codec.Checker) {
			c.Required("version", "timestamp", "command_name", "workflow_id", "status")
			checkIterations(c)
			c.Time("timestamp")
			c.Status("status", statuses...)
			c.Phase("current_phase")
			c.Phases("workflow_data.completed_phases")
			c.Local("plan_path", "state_file")
			if v := values.Text(c.Doc, "version"); v != "" && v != "3.0" {
				c.Warn("version", "version", "%.20q is read as 3.0", v)
			}
		},
		Key: func(m *checkpoint.Map) string {
			return strings.Trim(values.Text(m, "command_name")+"_"+snake(projectIn(values.Text(m, "workflow_id"), values.Text(m, "command_name"))), "_")
		},
		ID: func(m *checkpoint.Map) string { return values.Text(m, "workflow_id") },
		At: func(m *checkpoint.Map) any { return values.Get(m, "timestamp") },
		Apply: func(m *checkpoint.Map, r *checkpoint.Record) {
			workflow.Set(r, "id", values.Text(m, "workflow_id"), "type", values.Text(m, "command_name"),
				"status", workflow.StatusOf(values.Text(m, "status")), "plan_path", values.Text(m, "plan_path"),
				"updated_at", values.Text(m, "timestamp"), "last_error", values.Text(m, "workflow_data.last_error"))
			if passing, ok := values.Get(m, "workflow_data.tests_passing").(bool); ok {
				values.Sub(r.Doc(), "workflow").Set("tests_passing", passing)
			}
			workflow.SetPhases(r, workflow.PhaseName(values.Get(m, "current_phase")), workflow.SortedPhases(values.Get(m, "workflow_data.completed_phases")), "")
		},
		Update: func(r *checkpoint.Record, m *checkpoint.Map) {
			was := m.Clone()
			workflow.UpdatePhases(r, m, "current_phase", "", "")
			workflow.UpdateStatus(r, m, "status")
			data := values.Sub(m, "workflow_data")
			workflow.UpdatePhases(r, data, "", "completed_phases", "")
			workflow.UpdateError(r, data, "last_error")
			if data.Len() > 0 {
				m.Set("workflow_data", data)
			}
			workflow.Touch(r, was, m, "timestamp")
		},
		File: func(m *checkpoint.Map) string { return values.Text(m, "workflow_id") + ".json" },
	}
}

// projectIn returns the project from an id of the form <type>_<project>_<date>_<time>.
// Date and time are removed from the right, because a project may contain '_'.
func projectIn(id, workflow string) string {
	rest := strings.TrimPrefix(id, workflow+"_")
	fields := strings.Split(rest, "_")
	if n := len(fields); n > 2 && allDigits(fields[n-1], 6) && allDigits(fields[n-2], 8) {
		return strings.Join(fields[:n-2], "_")
	}
	return rest
}

func allDigits(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789") == ""
}

// iterationKind returns the kind for the state of a loop that stopped at a full
// context.
func iterationKind() *codec.Kind {
	return &codec.Kind{
		Name: "iteration",
		Is: func(m *checkpoint.Map) bool {
			return values.Has(m, "iteration", "max_iterations") && !values.Has(m, "workflow_data")
		},
		Version: func(m *checkpoint.Map) string { return values.Text(m, "version") },
		Rules: func(c *codec.Checker) {
			c.Required("workflow_id", "timestamp")
			checkIterations(c)
			c.Time("timestamp")
			c.Text("workflow_id", "plan_path", "topic_path", "continuation_context", "halt_reason")
			c.Number("context_estimate", 0, codec.AnyNumber, true)
			c.Local("plan_path", "topic_path", "continuation_context")
			for _, key := range []string{"work_remaining", "last_work_remaining"} {
				if v, ok := c.Given(key); ok && values.AsText(v) == "" && v != "" {
					c.Texts(key)
				}
			}
		},
		Key: func(m *checkpoint.Map) string { return values.Text(m, "workflow_id") },
		At:  func(m *checkpoint.Map) any { return values.Get(m, "timestamp") },
		Apply: func(m *checkpoint.Map, r *checkpoint.Record) {
			status := workflow.InProgress
			if values.Text(m, "halt_reason") != "" {
				status = workflow.Halted
			}
			workflow.Set(r, "id", values.Text(m, "workflow_id"), "status", status, "plan_path", values.Text(m, "plan_path"),
				"updated_at", values.Text(m, "timestamp"), "last_error", values.Text(m, "halt_reason"))
			left := values.Texts(values.Get(m, "work_remaining")) // phases, or a text with phases separated by spaces
			if s := values.Text(m, "work_remaining"); s != "" {
				left = strings.Fields(s)
			}
			for i := range left {
				left[i] = workflow.PhaseName(left[i])
			}
			if len(left) > 0 {
				r.SetProgress(checkpoint.Progress{Current: left[0], Remaining: left})
				r.SetPhase(left[0])
			}
		},
		File: func(m *checkpoint.Map) string { return values.Text(m, "workflow_id") + "_iteration.json" },
	}
}

// checkIterations checks the loop counter.
func checkIterations(c *codec.Checker) {
	c.Number("iteration", 0, codec.AnyNumber, true)
	c.Number("max_iterations", 0, codec.AnyNumber, true)
	at, ok := checkpoint.Number(values.Text(c.Doc, "iteration")).Int()
	limit, limited := checkpoint.Number(values.Text(c.Doc, "max_iterations")).Int()
	if ok && limited && at > limit {
		c.Fail("iteration", "range", "%d is more than max_iterations, %d", at, limit)
	}
	if v, given := c.Given("halt_reason"); given && v != "" && !slices.Contains(haltReasons, values.AsText(v)) {
		c.Warn("halt_reason", "enum", "%s is not one of %s", codec.Shown(v), strings.Join(haltReasons, ", "))
	}
}

// haltReasons lists the reasons for which a loop of iterations stops.
var haltReasons = []string{"context_threshold", "max_iterations", "stuck", "completion", "user_abort", "error"}
