package layout

import (
	"cmp"
	"strconv"

	"git-checkpoint/gitstore/checkpoint"
)

// taskStatuses lists the status values of execution.json.
var taskStatuses = []string{pending, "running", "complete", failed, "blocked"}

// dotagentExecution returns the kind for execution.json, the status of all tasks.
func dotagentExecution() *kind {
	return &kind{
		name: "execution", sequel: true, listNoPhase: true, listTasks: true,
		is: func(m *object) bool {
			return hasAny(m, "tasks") && !hasAny(m, "schema_version", "phase", "dependencies", "plan", "project", "goal", "phases")
		},
		rules: func(c *checker) {
			c.text("workflow_id")
			c.time("started_at", "last_updated")
			checkTasks(c, "tasks", taskStatuses)
		},
		key:     func(m *object) string { return text(m, "workflow_id") },
		at:      func(m *object) any { return cmp.Or(get(m, "last_updated"), get(m, "started_at")) },
		trigger: func(*object) checkpoint.Trigger { return checkpoint.TaskUpdate },
		apply:   func(m *object, r *checkpoint.Record) { r.Doc().Set("tasks", tasksOf(get(m, "tasks"))) },
		update: func(r *checkpoint.Record, m *object) {
			was := m.Clone()
			updateTasks(sub(r.Doc(), "tasks"), get(m, "tasks"))
			if has(m, "last_updated") {
				touch(r, was, m, "last_updated")
			}
		},
		file: func(*object) string { return "execution.json" },
	}
}

// eachTask calls do for each task mapping in a list, or in a mapping by id.
func eachTask(v any, do func(id, at string, task *object)) {
	switch v := v.(type) {
	case *object:
		for id, t := range v.All() {
			if task, ok := t.(*object); ok {
				do(id, checkpoint.PathOf("", id), task)
			}
		}
	case []any:
		for i, t := range v {
			if task, ok := t.(*object); ok {
				do(cmp.Or(text(task, "id", "task_id", "name"), strconv.Itoa(i+1)), checkpoint.PathOf("", i), task)
			}
		}
	}
}

// tasksOf returns tasks by id with the status values of records.
func tasksOf(v any) *object {
	out := checkpoint.NewMap()
	eachTask(v, func(id, _ string, task *object) {
		t := newObject("status", taskStatus(text(task, "status")))
		for _, key := range []string{"attempts", "output", "started_at", "completed_at", "error", "depends_on", "dependencies"} {
			if v, ok := task.Get(key); ok && v != nil {
				t.Set(key, v)
			}
		}
		out.Set(id, t)
	})
	return out
}

// taskStatus returns the record's value for a task status.
func taskStatus(word string) string {
	switch s := statusOf(word); s {
	case inProgress:
		return "running"
	case completed:
		return "complete"
	case halted:
		return "blocked"
	case "":
		return pending
	default:
		return s
	}
}

// updateTasks updates document tasks that differ from the record.
func updateTasks(now *object, v any) {
	eachTask(v, func(id, _ string, task *object) {
		said, ok := now.Get(id)
		t, isMap := said.(*object)
		if !ok || !isMap {
			return
		}
		if s := text(t, "status"); s != "" && s != taskStatus(text(task, "status")) {
			task.Set("status", s)
		}
		for _, key := range []string{"attempts", "output", "started_at", "completed_at", "error"} {
			if v, ok := t.Get(key); ok && v != nil {
				put(task, key, v)
			}
		}
	})
}

// checkTasks checks tasks in a list or in a mapping by id.
func checkTasks(c *checker, path string, statuses []string) {
	v, ok := c.given(path)
	if !ok {
		c.fail(path, "required", "missing")
		return
	}
	m, isMap := v.(*object)
	l, isList := v.([]any)
	if !isMap && !isList {
		c.fail(path, "kind", "want a mapping by id or a list, got %s", shown(v))
		return
	}
	found := 0
	eachTask(v, func(_, at string, _ *object) {
		found++
		if at[0] != '[' {
			at = "." + at
		}
		at = path + at
		c.status(at+".status", statuses...)
		c.number(at+".attempts", 0, anyNumber, true)
		c.time(at+".started_at", at+".completed_at")
		c.local(at + ".output")
	})
	if found != m.Len()+len(l) {
		c.fail(path, "kind", "%d of its elements are no mappings", m.Len()+len(l)-found)
	}
}

// dotagentStages returns the kind for phase files of related tools: a mapping of phases,
// each with a status.
func dotagentStages() *kind {
	return &kind{
		name: "phases",
		is: func(m *object) bool {
			return isMap(m, "phases") && hasAny(m, "currentPhase", "current_phase_id", "current_phase")
		},
		rules: func(c *checker) {
			c.text("project", "workflow_id")
			c.time("created_at", "updated_at", "completed_at")
			for name := range sub(c.doc, "phases").All() {
				at := checkpoint.PathOf("phases", name)
				if _, ok := c.mapping(at); ok {
					c.status(at+".status", pending, inProgress, completed, failed, skipped)
					c.time(at+".startedAt", at+".completedAt", at+".started_at", at+".completed_at")
				}
			}
		},
		key: func(m *object) string { return text(m, "workflow_id", "project") },
		at:  func(m *object) any { return get(m, "updated_at") },
		apply: func(m *object, r *checkpoint.Record) {
			var names, done []string
			for name, v := range sub(m, "phases").All() {
				names = append(names, name)
				if p, _ := v.(*object); over(text(p, "status")) {
					done = append(done, name)
				}
			}
			current := text(m, "currentPhase", "current_phase_id", "current_phase")
			setWorkflow(r, "id", text(m, "workflow_id"), "type", text(m, "workflow_type"), "project", text(m, "project"),
				"description", text(m, "task_description"), "status", statusOf(text(m, "status")),
				"started_at", text(m, "created_at"), "updated_at", text(m, "updated_at"))
			r.Doc().Delete("progress")
			r.SetProgress(checkpoint.Progress{Current: current, Completed: done, Names: names})
			r.SetPhase(current)
		},
		indent: defaultIndent,
	}
}

// dotagentTasks returns the kind for task files of related tools.
func dotagentTasks() *kind {
	return &kind{
		name: "tasks", listTasks: true,
		is: func(m *object) bool {
			return hasAny(m, "tasks") && (has(m, "plan", "branch") || has(m, "dependencies"))
		},
		version: func(m *object) string { return text(m, "schema_version") },
		rules: func(c *checker) {
			c.text("plan", "branch")
			c.local("plan", "spec", "worktree")
			checkTasks(c, "tasks", append([]string{"COMPLETE"}, taskStatuses...))
		},
		key: func(m *object) string { return text(m, "branch") },
		at:  func(m *object) any { return nil },
		apply: func(m *object, r *checkpoint.Record) {
			setWorkflow(r, "plan_path", text(m, "plan"), "started_at", text(m, "timestamps.started_at"))
			r.Doc().Set("tasks", tasksOf(get(m, "tasks")))
		},
		update: func(r *checkpoint.Record, m *object) { updateTasks(sub(r.Doc(), "tasks"), get(m, "tasks")) },
		indent: defaultIndent,
	}
}

// dotagentStep returns the kind for minimal phase files of related tools, in a folder
// named state.
func dotagentStep() *kind {
	return &kind{
		name: "step", under: "state",
		is: func(m *object) bool { return has(m, "phase") },
		rules: func(c *checker) {
			c.text("phase")
			c.time("iter_started", "phase_started", "lastUpdated")
		},
		key: func(m *object) string { return text(m, "contractId") },
		at:  func(m *object) any { return cmp.Or(get(m, "lastUpdated"), get(m, "phase_started")) },
		apply: func(m *object, r *checkpoint.Record) {
			setWorkflow(r, "status", statusOf(text(m, "phase")))
			r.SetPhase(text(m, "phase"))
		},
	}
}
