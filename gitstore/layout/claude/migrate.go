package claude

import (
	"cmp"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// states maps phase numbers of versions before 2.0 to workflow states, each with
// its possible next states.
var states = []struct{ name, next string }{
	{"initialize", "research"},
	{"research", "plan,complete"},
	{"plan", "implement,complete"},
	{"implement", "test"},
	{"test", "debug,document"},
	{"debug", "test,complete"},
	{"document", "complete"},
	{"complete", ""},
}

// originalKeys lists the keys of the original form, in their order: without a version and without the
// keys that versions 1.1 to 2.1 added. project_name is also at the top level of some of its documents.
var originalKeys = []string{
	"checkpoint_id", "workflow_type", "workflow_description", "created_at", "updated_at", "status",
	"current_phase", "total_phases", "completed_phases", "workflow_state", "last_error", "project_name",
}

// migrate returns a document migrated to version 2.1 from any older version. It adds missing keys, in
// the order of the versions that brought them, and changes no others. So the result is also complete if
// an interrupted migration left a version number that is too new. A document of the original form stays
// as it is, because its readers know no other form.
func migrate(m *checkpoint.Map) *checkpoint.Map {
	out := m.Clone()
	if !slices.ContainsFunc(m.Keys(), func(key string) bool { return !slices.Contains(originalKeys, key) }) {
		return out
	}
	table := values.NewMap()
	for _, s := range states {
		table.Set(s.name, s.next)
	}
	done := []any{}
	for _, p := range workflow.Phases(values.Get(m, "completed_phases")) {
		if s := stateOf(p); s != "" {
			done = append(done, s)
		}
	}
	out.Set("schema_version", "2.1")
	add(out,
		// 1.1: replan counters
		"replanning_count", 0, "last_replan_reason", nil, "replan_phase_counts", values.NewMap(), "replan_history", []any{},
		// 1.2: debugging state
		"debug_report_path", nil, "user_last_choice", nil, "debug_iteration_count", 0,
		// 1.3: topics, templates and the log of removed context
		"topic_directory", nil, "topic_number", nil,
		"context_preservation", values.NewMap("pruning_log", []any{}, "artifact_metadata_cache", values.NewMap(), "subagent_output_references", []any{}),
		"template_source", nil, "template_variables", nil,
		"spec_maintenance", values.NewMap("parent_plan_path", nil, "grandparent_plan_path", nil, "spec_updater_invocations", []any{}, "checkbox_propagation_log", []any{}),
		// 2.0: a state machine derived from the phase
		"state_machine", values.NewMap(
			"current_state", cmp.Or(stateOf(workflow.PhaseName(values.Get(m, "current_phase"))), "initialize"), "completed_states", done,
			"transition_table", table,
			"workflow_config", values.NewMap("scope", "full-implementation", "description", values.Text(m, "workflow_description"), "command", values.Text(m, "workflow_type")),
		),
		"phase_data", values.NewMap(), "supervisor_state", values.NewMap(),
		"error_state", values.NewMap("last_error", values.Get(m, "last_error"), "retry_count", 0, "failed_state", nil),
		"metadata", values.NewMap("checkpoint_id", values.Get(m, "checkpoint_id"), "project_name", projectOf(m),
			"created_at", values.Get(m, "created_at"), "updated_at", values.Get(m, "updated_at")))
	if machine, ok := values.Get(out, "state_machine").(*checkpoint.Map); ok { // 2.1: a classification of the workflow
		add(machine, "classification", values.NewMap(
			"workflow_type", "full-implementation", "research_complexity", 2, "research_topics", []any{}, "confidence", 0,
			"reasoning", "Migrated from v2.0 (defaults applied, re-classification recommended)", "classified_at", nil,
		))
	}
	return out
}

// add sets keys that are missing.
func add(m *checkpoint.Map, pairs ...any) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if key := pairs[i].(string); !values.Has(m, key) {
			m.Set(key, pairs[i+1])
		}
	}
}

// stateOf returns the state for a phase number, "" if no state exists.
func stateOf(phase string) string {
	n, ok := checkpoint.Number(phase).Int()
	if !ok || n < 0 || int(n) >= len(states) {
		return ""
	}
	return states[n].name
}
