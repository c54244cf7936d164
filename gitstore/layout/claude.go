package layout

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// claudeSystem returns the claude system.
func claudeSystem() *system {
	return &system{
		name: Claude,
		kinds: []*kind{
			claudeCheckpoint(), claudeWorkflow(), claudeIteration(), claudeParallel(), claudeSupervisor(), claudeSnapshot(),
		},
		folder: func(checkpoint.Issue) string { return ".claude/checkpoints" },
		files:  claudeFiles,
		list:   claudeList,
		begin:  claudeBegin,
	}
}

// claudeBegin requires a type, and names the workflow after its type and project.
func claudeBegin(s Start) (Beginning, error) {
	if s.Type == "" {
		return Beginning{}, errors.New("a claude workflow has a type: orchestrate, implement, test-all or another one")
	}
	if s.Project == "" {
		return Beginning{}, nil
	}
	return Beginning{Key: s.Type + "_" + snake(s.Project)}, nil
}

// claudeFiles puts a failed workflow into the subfolder failed.
func claudeFiles(records []*checkpoint.Record) ([]Output, error) {
	newest := records[len(records)-1]
	out, err := claudeSystem().of(newest)
	if statusOf(text(newest.Doc(), "workflow.status")) == failed {
		for i := range out {
			out[i].Path = failedFolder + out[i].Path
		}
	}
	return out, err
}

// failedFolder is the subfolder of failed workflows.
const failedFolder = "failed/"

// claudeList lists failed workflows separately.
func claudeList(files []listedFile) string {
	var active, failures string
	for _, f := range files {
		var marks []string
		if kind := f.kind(); kind != "" && kind != "checkpoint" {
			marks = []string{"(" + kind + ")"}
		}
		line := "  " + f.line(marks...)
		if strings.HasPrefix(f.Path, failedFolder) {
			failures += line
		} else {
			active += line
		}
	}
	return headed("Active Checkpoints:\n", active) + headed("Failed Checkpoints:\n", failures)
}

func headed(head, lines string) string {
	if lines == "" {
		return ""
	}
	return head + lines
}

// claudeCheckpoint returns the kind for documents of versions 1.0 to 2.1.
func claudeCheckpoint() *kind {
	return &kind{
		name: "checkpoint",
		is: func(m *object) bool {
			return hasAny(m, "workflow_type", "workflow_description") && !has(m, "workflow_id") &&
				hasAny(m, "checkpoint_id", "workflow_state", "completed_phases", "status")
		},
		version: func(m *object) string { return cmp.Or(text(m, "schema_version"), "1.0") },
		migrate: migrateClaude,
		reads:   func(version string) string { return unreadVersions(version, "1", "2") },
		rules:   claudeRules,
		key: func(m *object) string {
			return strings.Trim(text(m, "workflow_type")+"_"+snake(claudeProject(m)), "_")
		},
		id:     func(m *object) string { return text(m, "checkpoint_id") },
		at:     func(m *object) any { return cmp.Or(get(m, "updated_at"), get(m, "created_at")) },
		apply:  applyClaude,
		update: updateClaude,
		fresh:  freshClaude,
		file:   func(m *object) string { return text(m, "checkpoint_id") + ".json" },
		indent: defaultIndent,
	}
}

// claudeProject returns the project name from either of its two keys.
func claudeProject(m *object) string { return text(m, "project_name", "workflow_state.project_name") }

func applyClaude(m *object, r *checkpoint.Record) {
	setWorkflow(r,
		"type", text(m, "workflow_type"),
		"project", claudeProject(m),
		"description", text(m, "workflow_description", "workflow_state.workflow_description"),
		"status", statusOf(text(m, "status")),
		"plan_path", text(m, "workflow_state.plan_path", "plan_path"),
		"started_at", text(m, "created_at"),
		"updated_at", text(m, "updated_at"),
		"last_error", text(m, "last_error"),
	)
	if passing, ok := get(m, "tests_passing").(bool); ok {
		sub(r.Doc(), "workflow").Set("tests_passing", passing)
	}
	setPhases(r, phaseName(get(m, "current_phase")), phasesOf(get(m, "completed_phases")), text(m, "total_phases"))
}

func updateClaude(r *checkpoint.Record, m *object) {
	was := m.Clone()
	updatePhases(r, m, "current_phase", "completed_phases", "total_phases")
	updateStatus(r, m, "status")
	updateError(r, m, "last_error")
	if state, ok := get(m, "workflow_state").(*object); ok && !checkpoint.Equal(was, m) {
		for _, key := range []string{"current_phase", "completed_phases", "total_phases"} {
			if v, there := m.Get(key); there && has(state, key) {
				put(state, key, v)
			}
		}
	}
	touch(r, was, m, "updated_at")
}

// freshClaude returns the first document of a workflow that git-checkpoint started.
func freshClaude(r *checkpoint.Record) (*object, error) {
	kindOf := cmp.Or(text(r.Doc(), "workflow.type"), "implement")
	project := snake(cmp.Or(text(r.Doc(), "workflow.project"), string(r.Issue())))
	about := cmp.Or(text(r.Doc(), "workflow.description"), r.IssueSnapshot().Title)
	at, began := seconds(r.CreatedAt()), r.CreatedAt()
	if started, err := checkpoint.ParseTime(get(r.Doc(), "workflow.started_at")); err == nil {
		began = started // the file name depends on the start time, so it stays constant
	}
	state := newObject("project_name", project)
	putText(state, "plan_path", text(r.Doc(), "workflow.plan_path"))
	p := r.Progress()
	m := newObject(
		"checkpoint_id", kindOf+"_"+project+"_"+began.UTC().Format("20060102_150405"),
		"workflow_type", kindOf, "project_name", project, "workflow_description", about,
		"created_at", cmp.Or(text(r.Doc(), "workflow.started_at"), at), "updated_at", at,
		"status", cmp.Or(text(r.Doc(), "workflow.status"), inProgress),
		"current_phase", phaseNumber(p, p.Current), "total_phases", p.Total,
		"completed_phases", phaseNumbers(p), "workflow_state", state, "last_error", nil,
	)
	return migrateClaude(m), nil
}

// claudeWorkflow returns the kind for documents of the planned version 3.0.
func claudeWorkflow() *kind {
	return &kind{
		name: "workflow",
		is: func(m *object) bool {
			return has(m, "workflow_data") || has(m, "command_name") && hasAny(m, "workflow_id", "state_file")
		},
		version: func(m *object) string { return text(m, "version") },
		reads:   func(version string) string { return unreadVersions(version, "3") },
		rules: func(c *checker) {
			c.required("version", "timestamp", "command_name", "workflow_id", "status")
			checkIterations(c)
			c.time("timestamp")
			c.status("status", claudeStatuses...)
			c.phase("current_phase")
			c.phases("workflow_data.completed_phases")
			c.local("plan_path", "state_file")
			if v := text(c.doc, "version"); v != "" && v != "3.0" {
				c.warn("version", "version", "%.20q is read as 3.0", v)
			}
		},
		key: func(m *object) string {
			return strings.Trim(text(m, "command_name")+"_"+snake(projectIn(text(m, "workflow_id"), text(m, "command_name"))), "_")
		},
		id: func(m *object) string { return text(m, "workflow_id") },
		at: func(m *object) any { return get(m, "timestamp") },
		apply: func(m *object, r *checkpoint.Record) {
			setWorkflow(r, "id", text(m, "workflow_id"), "type", text(m, "command_name"),
				"status", statusOf(text(m, "status")), "plan_path", text(m, "plan_path"),
				"updated_at", text(m, "timestamp"), "last_error", text(m, "workflow_data.last_error"))
			if passing, ok := get(m, "workflow_data.tests_passing").(bool); ok {
				sub(r.Doc(), "workflow").Set("tests_passing", passing)
			}
			setPhases(r, phaseName(get(m, "current_phase")), phasesOf(get(m, "workflow_data.completed_phases")), "")
		},
		update: func(r *checkpoint.Record, m *object) {
			was := m.Clone()
			updatePhases(r, m, "current_phase", "", "")
			updateStatus(r, m, "status")
			data := sub(m, "workflow_data")
			updatePhases(r, data, "", "completed_phases", "")
			updateError(r, data, "last_error")
			if data.Len() > 0 {
				m.Set("workflow_data", data)
			}
			touch(r, was, m, "timestamp")
		},
		file:   func(m *object) string { return text(m, "workflow_id") + ".json" },
		indent: defaultIndent,
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

// claudeIteration returns the kind for the state of a loop that stopped at a full
// context.
func claudeIteration() *kind {
	return &kind{
		name:    "iteration",
		is:      func(m *object) bool { return has(m, "iteration", "max_iterations") && !has(m, "workflow_data") },
		version: func(m *object) string { return text(m, "version") },
		rules: func(c *checker) {
			c.required("workflow_id", "timestamp")
			checkIterations(c)
			c.time("timestamp")
			c.text("workflow_id", "plan_path", "topic_path", "continuation_context", "halt_reason")
			c.number("context_estimate", 0, anyNumber, true)
			c.local("plan_path", "topic_path", "continuation_context")
			for _, key := range []string{"work_remaining", "last_work_remaining"} {
				if v, ok := c.given(key); ok && textOf(v) == "" && v != "" {
					c.texts(key)
				}
			}
		},
		key: func(m *object) string { return text(m, "workflow_id") },
		at:  func(m *object) any { return get(m, "timestamp") },
		apply: func(m *object, r *checkpoint.Record) {
			status := inProgress
			if text(m, "halt_reason") != "" {
				status = halted
			}
			setWorkflow(r, "id", text(m, "workflow_id"), "status", status, "plan_path", text(m, "plan_path"),
				"updated_at", text(m, "timestamp"), "last_error", text(m, "halt_reason"))
			if left := remainingWork(get(m, "work_remaining")); len(left) > 0 {
				r.SetProgress(checkpoint.Progress{Current: left[0], Remaining: left})
				r.SetPhase(left[0])
			}
		},
		file:   func(m *object) string { return text(m, "workflow_id") + "_iteration.json" },
		indent: defaultIndent,
	}
}

// remainingWork parses a list of phases, or a text with phases separated by spaces.
func remainingWork(v any) []string {
	names := texts(v)
	if s := textOf(v); s != "" {
		names = strings.Fields(s)
	}
	for i := range names {
		names[i] = phaseName(names[i])
	}
	return names
}

// claudeParallel returns the kind for checkpoints before parallel operations.
func claudeParallel() *kind {
	return &kind{
		name: "parallel",
		is:   func(m *object) bool { return has(m, "operation_type", "operations") },
		rules: func(c *checker) {
			c.required("checkpoint_id", "operation_type", "created_at", "status")
			c.text("checkpoint_id", "operation_type", "plan_path")
			c.time("created_at")
			c.list("operations")
			c.status("status", append([]string{"pre_execution"}, claudeStatuses...)...)
			c.local("plan_path")
			c.named(text(c.doc, "checkpoint_id"))
		},
		key: func(m *object) string { return projectIn(text(m, "checkpoint_id"), "") },
		id:  func(m *object) string { return text(m, "checkpoint_id") },
		at:  func(m *object) any { return get(m, "created_at") },
		trigger: func(m *object) checkpoint.Trigger {
			if statusOf(text(m, "status")) == inProgress {
				return checkpoint.BeforeParallel
			}
			return checkpoint.PhaseTransition
		},
		apply: func(m *object, r *checkpoint.Record) {
			setWorkflow(r, "type", "parallel_"+text(m, "operation_type"), "status", statusOf(text(m, "status")),
				"plan_path", text(m, "plan_path"), "started_at", text(m, "created_at"))
		},
		update: func(r *checkpoint.Record, m *object) { updateStatus(r, m, "status") },
		file:   func(m *object) string { return text(m, "checkpoint_id") + ".json" },
		indent: defaultIndent,
	}
}

// claudeSupervisor returns the kind for the state of a supervisor: its parallel workers
// and their aggregated results. Only the supervisor uses these results.
func claudeSupervisor() *kind {
	return &kind{
		name: "supervisor",
		is:   func(m *object) bool { return isList(m, "workers") && has(m, "aggregated_metadata") },
		rules: func(c *checker) {
			c.text("supervisor_id", "supervisor_name", "workflow_id", "plan_path")
			c.time("timestamp", "created_at", "updated_at")
			c.status("status", claudeStatuses...)
			c.mapping("aggregated_metadata")
			c.local("plan_path")
		},
		key: func(m *object) string { return text(m, "workflow_id", "supervisor_id") },
		id:  func(m *object) string { return text(m, "checkpoint_id") },
		at:  func(m *object) any { return cmp.Or(get(m, "updated_at"), get(m, "timestamp"), get(m, "created_at")) },
		apply: func(m *object, r *checkpoint.Record) {
			setWorkflow(r, "id", text(m, "workflow_id", "supervisor_id"), "type", "supervisor", "description", text(m, "supervisor_name"),
				"status", statusOf(text(m, "status")), "plan_path", text(m, "plan_path"))
		},
		update: func(r *checkpoint.Record, m *object) {
			if has(m, "status") {
				updateStatus(r, m, "status")
			}
		},
		file: func(m *object) string {
			return cmp.Or(text(m, "supervisor_id"), text(m, "workflow_id"), "supervisor") + ".json"
		},
		indent: defaultIndent,
	}
}

// claudeSnapshot returns the kind for files of related tools in the same folder: a name,
// a time, and an opaque state.
func claudeSnapshot() *kind {
	return &kind{
		name: "snapshot",
		is: func(m *object) bool {
			return has(m, "timestamp") && (hasAny(m, "checkpoint_id", "id") && (isMap(m, "state") || isMap(m, "state_snapshot")) || has(m, "session_id", "git"))
		},
		version: func(m *object) string { return text(m, "version") },
		rules: func(c *checker) {
			c.required("timestamp")
			c.time("timestamp")
			c.text("id", "checkpoint_id", "name", "message", "description", "session_id", "version")
			c.local("project", "cwd")
			for _, path := range []string{"git_commit", "metadata.git_commit"} {
				if v, ok := c.given(path); ok && !isHash(textOf(v)) {
					c.warn(path, "form", "%s is no commit's hash", shown(v))
				}
			}
			c.named(text(c.doc, "checkpoint_id", "id"))
		},
		key: func(m *object) string { return text(m, "feature_id") },
		id:  func(m *object) string { return text(m, "checkpoint_id", "id") },
		at:  func(m *object) any { return get(m, "timestamp") },
		apply: func(m *object, r *checkpoint.Record) {
			setWorkflow(r, "description", text(m, "message", "description", "name"), "updated_at", text(m, "timestamp"))
			if phase := text(m, "state.current_phase", "state_snapshot.phase", "state_snapshot.current_phase"); phase != "" {
				r.SetPhase(phase)
			}
		},
		indent: defaultIndent,
	}
}

func isHash(s string) bool {
	return len(s) >= 7 && len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// claudeStatuses lists the status values of claude documents.
var claudeStatuses = []string{inProgress, completed, failed, aborted, halted}

func claudeRules(c *checker) {
	c.required("checkpoint_id", "workflow_type", "created_at", "status")
	if claudeProject(c.doc) == "" {
		c.fail("project_name", "required", "missing, and workflow_state has none either")
	}
	c.text("checkpoint_id", "workflow_type", "project_name", "workflow_description", "last_error", "schema_version")
	c.time("created_at", "updated_at")
	c.status("status", claudeStatuses...)
	c.phase("current_phase")
	c.number("total_phases", 0, anyNumber, true)
	c.phases("completed_phases")
	c.mapping("workflow_state")
	c.local("workflow_state.plan_path", "plan_path", "debug_report_path")
	checkNames(c)
	checkPhaseNumbers(c)
	checkTransitions(c)
}

// checkNames checks the id: <type>_<project>_<date>_<time>.
func checkNames(c *checker) {
	id, project := text(c.doc, "checkpoint_id"), claudeProject(c.doc)
	if project != snake(project) {
		c.warn("project_name", "form", "%.60q is not written in snake_case: %s", project, snake(project))
	}
	if want := text(c.doc, "workflow_type") + "_"; id != "" && (!strings.HasPrefix(id, want) || projectIn(id, text(c.doc, "workflow_type")) == strings.TrimPrefix(id, want)) {
		c.warn("checkpoint_id", "form", "%.80q is not of the form <type>_<project>_<YYYYMMDD>_<HHMMSS>", id)
	}
	c.named(id)
}

// checkPhaseNumbers checks the consistency of phase numbers.
func checkPhaseNumbers(c *checker) {
	done := phasesOf(get(c.doc, "completed_phases"))
	if slices.Contains(done, phaseName(get(c.doc, "current_phase"))) && statusOf(text(c.doc, "status")) != completed {
		c.warn("current_phase", "consistency", "phase %s is completed already", text(c.doc, "current_phase"))
	}
	total, ok := number(text(c.doc, "total_phases")).Int()
	for i, p := range done {
		if n, isInt := number(p).Int(); ok && total > 0 && isInt && n > total {
			c.warn(checkpoint.PathOf("completed_phases", i), "consistency", "phase %d of %d", n, total)
		}
	}
	c.replans()
}

// checkTransitions checks the state machine, if present.
func checkTransitions(c *checker) {
	table, ok := c.mapping("state_machine.transition_table")
	if state, given := c.given("state_machine.current_state"); ok && given && !has(table, textOf(state)) {
		c.fail("state_machine.current_state", "consistency", "%s is not in the transition table", shown(state))
	}
}

// checkIterations checks the loop counter.
func checkIterations(c *checker) {
	c.number("iteration", 0, anyNumber, true)
	c.number("max_iterations", 0, anyNumber, true)
	at, ok := number(text(c.doc, "iteration")).Int()
	limit, limited := number(text(c.doc, "max_iterations")).Int()
	if ok && limited && at > limit {
		c.fail("iteration", "range", "%d is more than max_iterations, %d", at, limit)
	}
}
