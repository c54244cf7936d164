package claude

import (
	"cmp"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// checkpointKind returns the kind for documents of versions 1.0 to 2.1.
func checkpointKind() *codec.Kind {
	return &codec.Kind{
		Name: "checkpoint",
		Is: func(m *checkpoint.Map) bool {
			return values.HasAny(m, "workflow_type", "workflow_description") && !values.Has(m, "workflow_id") &&
				values.HasAny(m, "checkpoint_id", "workflow_state", "completed_phases", "status")
		},
		Version: func(m *checkpoint.Map) string { return cmp.Or(values.Text(m, "schema_version"), "1.0") },
		Migrate: migrate,
		Reads:   func(version string) string { return unreadVersions(version, "1", "2") },
		Rules:   checkpointRules,
		Key: func(m *checkpoint.Map) string {
			return strings.Trim(values.Text(m, "workflow_type")+"_"+snake(projectOf(m)), "_")
		},
		ID:     func(m *checkpoint.Map) string { return values.Text(m, "checkpoint_id") },
		At:     func(m *checkpoint.Map) any { return values.First(m, "updated_at", "created_at") },
		Apply:  applyCheckpoint,
		Update: updateCheckpoint,
		Fresh:  freshCheckpoint,
		File:   func(m *checkpoint.Map) string { return values.Text(m, "checkpoint_id") + ".json" },
	}
}

// projectOf returns the project name from either of its two keys.
func projectOf(m *checkpoint.Map) string {
	return values.Text(m, "project_name", "workflow_state.project_name")
}

func applyCheckpoint(m *checkpoint.Map, r *checkpoint.Record) {
	if state, ok := values.Get(r.Doc(), "workflow_state").(*checkpoint.Map); ok {
		for key := range ownState(r).All() {
			if values.Has(values.Sub(m, "workflow_state"), key) {
				state.Delete(key)
			}
		}
	}
	workflow.Set(r,
		"type", values.Text(m, "workflow_type"),
		"project", projectOf(m),
		"description", values.Text(m, "workflow_description", "workflow_state.workflow_description"),
		"status", workflow.StatusOf(values.Text(m, "status")),
		"plan_path", values.Text(m, "workflow_state.plan_path", "plan_path"),
		"started_at", values.Text(m, "created_at"),
		"updated_at", values.Text(m, "updated_at"),
		"last_error", values.Text(m, "last_error"),
	)
	if passing, ok := values.Get(m, "tests_passing").(bool); ok {
		values.Sub(r.Doc(), "workflow").Set("tests_passing", passing)
	}
	workflow.SetPhases(r, workflow.PhaseName(values.Get(m, "current_phase")), workflow.SortedPhases(values.Get(m, "completed_phases")), values.Text(m, "total_phases"))
}

func updateCheckpoint(r *checkpoint.Record, m *checkpoint.Map) {
	was := m.Clone()
	workflow.UpdatePhases(r, m, "current_phase", "completed_phases", "total_phases")
	workflow.UpdateStatus(r, m, "status")
	workflow.UpdateError(r, m, "last_error")
	for key, v := range ownState(r).All() {
		values.Put(m.MustSub("workflow_state"), key, v)
	}
	if state, ok := values.Get(m, "workflow_state").(*checkpoint.Map); ok && !checkpoint.Equal(was, m) {
		for _, key := range []string{"current_phase", "completed_phases", "total_phases"} {
			if v, there := m.Get(key); there && values.Has(state, key) {
				values.Put(state, key, v)
			}
		}
	}
	workflow.Touch(r, was, m, "updated_at")
}

// freshCheckpoint returns the first document of a workflow that git-checkpoint started.
func freshCheckpoint(r *checkpoint.Record) (*checkpoint.Map, error) {
	kindOf := cmp.Or(values.Text(r.Doc(), "workflow.type"), "implement")
	project := snake(cmp.Or(values.Text(r.Doc(), "workflow.project"), string(r.Issue())))
	about := cmp.Or(values.Text(r.Doc(), "workflow.description"), r.IssueSnapshot().Title)
	at, began := workflow.FormatTime(r.CreatedAt()), r.CreatedAt()
	if started, err := checkpoint.ParseTime(values.Get(r.Doc(), "workflow.started_at")); err == nil {
		began = started // the file name depends on the start time, so it stays constant
	}
	state := values.NewMap("project_name", project)
	values.PutText(state, "plan_path", values.Text(r.Doc(), "workflow.plan_path"))
	p, done := r.Progress(), []any{}
	for _, phase := range p.Completed {
		done = append(done, workflow.PhaseNumber(p, phase))
	}
	return values.NewMap(
		"checkpoint_id", kindOf+"_"+project+"_"+began.UTC().Format("20060102_150405"),
		"workflow_type", kindOf, "workflow_description", about,
		"created_at", workflow.FormatTime(began), "updated_at", at,
		"status", cmp.Or(values.Text(r.Doc(), "workflow.status"), workflow.InProgress),
		"current_phase", workflow.PhaseNumber(p, p.Current), "total_phases", p.Total,
		"completed_phases", done, "workflow_state", state, "last_error", nil,
	), nil
}

// ownState returns the keys of a record's workflow_state that belong to the claude system,
// such as artifact_registry, and not to the crunch system, which has a mapping of this name
// too.
func ownState(r *checkpoint.Record) *checkpoint.Map {
	own := values.Sub(r.Doc(), "workflow_state").Clone()
	for _, key := range []string{"current_phase", "current_state_label", "phase_started_at", "phase_attempt", "phase_attempts"} {
		own.Delete(key)
	}
	return own
}

func checkpointRules(c *codec.Checker) {
	c.Required("checkpoint_id", "workflow_type", "created_at", "status")
	if projectOf(c.Doc) == "" {
		c.Fail("project_name", "required", "missing, and workflow_state has none either")
	}
	c.Text("checkpoint_id", "workflow_type", "project_name", "workflow_description", "last_error", "schema_version")
	c.Time("created_at", "updated_at")
	c.Status("status", statuses...)
	c.Phase("current_phase")
	c.Number("total_phases", 0, codec.AnyNumber, true)
	c.Phases("completed_phases")
	c.Mapping("workflow_state")
	c.Local("workflow_state.plan_path", "plan_path", "debug_report_path")
	checkNames(c)
	checkPhaseNumbers(c)
	table, ok := c.Mapping("state_machine.transition_table")
	if state, given := c.Given("state_machine.current_state"); ok && given && !values.Has(table, values.AsText(state)) {
		c.Fail("state_machine.current_state", "consistency", "%s is not in the transition table", codec.Shown(state))
	}
}

// checkNames checks the id: <type>_<project>_<date>_<time>.
func checkNames(c *codec.Checker) {
	id, project := values.Text(c.Doc, "checkpoint_id"), projectOf(c.Doc)
	if project != snake(project) {
		c.Warn("project_name", "form", "%.60q is not written in snake_case: %s", project, snake(project))
	}
	if want := values.Text(c.Doc, "workflow_type") + "_"; id != "" && (!strings.HasPrefix(id, want) || projectIn(id, values.Text(c.Doc, "workflow_type")) == strings.TrimPrefix(id, want)) {
		c.Warn("checkpoint_id", "form", "%.80q is not of the form <type>_<project>_<YYYYMMDD>_<HHMMSS>", id)
	}
	c.Named(id)
}

func checkPhaseNumbers(c *codec.Checker) {
	done := workflow.Phases(values.Get(c.Doc, "completed_phases"))
	if slices.Contains(done, workflow.PhaseName(values.Get(c.Doc, "current_phase"))) && workflow.StatusOf(values.Text(c.Doc, "status")) != workflow.Completed {
		c.Warn("current_phase", "consistency", "phase %s is completed already", values.Text(c.Doc, "current_phase"))
	}
	total, ok := checkpoint.Number(values.Text(c.Doc, "total_phases")).Int()
	for i, p := range done {
		if n, isInt := checkpoint.Number(p).Int(); ok && total > 0 && isInt && n > total {
			c.Warn(checkpoint.PathOf("completed_phases", i), "consistency", "phase %d of %d", n, total)
		}
	}
	c.Replans()
}
