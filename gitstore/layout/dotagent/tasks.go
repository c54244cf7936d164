package dotagent

import (
	"cmp"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// taskStatuses lists the status values of execution.json.
var taskStatuses = []string{workflow.Pending, "running", "complete", workflow.Failed, "blocked"}

// taskKeys are the values of a task beside its status.
var taskKeys = []string{"attempts", "output", "started_at", "completed_at", "error", "depends_on", "dependencies"}

// taskWith returns a task with a status and the other values of a task.
func taskWith(status string, of *checkpoint.Map) *checkpoint.Map {
	task := values.NewMap("status", status)
	values.Copy(task, of, taskKeys...)
	return task
}

// outputKeys are the names of a task's output file, a text or a list. The first of a list
// counts. Documents are written with the name that they have.
var outputKeys = []string{"output", "output_path", "output_file", "result_file", "outputs"}

// outputOf returns the name and the value of a task's output file, or "" and "".
func outputOf(task *checkpoint.Map) (key, file string) {
	for _, key := range outputKeys {
		v := values.Get(task, key)
		if list, ok := v.([]any); ok && len(list) > 0 {
			v = list[0]
		}
		if file, ok := v.(string); ok && file != "" {
			return key, file
		}
	}
	return "", ""
}

// setOutput sets the output file of a task, under the name that the task has.
func setOutput(task *checkpoint.Map, file string) {
	key, was := outputOf(task)
	list, isList := values.Get(task, key).([]any)
	switch {
	case was == file:
	case key == "":
		task.Set(outputKeys[0], file)
	case isList:
		task.Set(key, append([]any{file}, list[1:]...))
	default:
		task.Set(key, file)
	}
}

// executionKind returns the kind for execution.json, the status of all tasks.
func executionKind() *codec.Kind {
	return &codec.Kind{
		Name: "execution", Sequel: true, ListNoPhase: true, ListTasks: true,
		Is: func(m *checkpoint.Map) bool {
			return values.HasAny(m, "tasks") && !values.HasAny(m, "schema_version", "phase", "dependencies", "plan", "project", "goal", "phases")
		},
		Rules: func(c *codec.Checker) {
			c.Text("workflow_id")
			c.Time("started_at", "last_updated")
			checkTasks(c, "tasks", taskStatuses)
		},
		Key:     func(m *checkpoint.Map) string { return values.Text(m, "workflow_id") },
		At:      func(m *checkpoint.Map) any { return values.First(m, "last_updated", "started_at") },
		Trigger: func(*checkpoint.Map) checkpoint.Trigger { return checkpoint.TaskUpdate },
		Apply:   func(m *checkpoint.Map, r *checkpoint.Record) { r.Doc().Set("tasks", tasksOf(values.Get(m, "tasks"))) },
		Update: func(r *checkpoint.Record, m *checkpoint.Map) {
			was := m.Clone()
			updateTasks(values.Sub(r.Doc(), "tasks"), values.Get(m, "tasks"))
			addTasks(values.Sub(r.Doc(), "tasks"), m)
			if values.Has(m, "last_updated") {
				workflow.Touch(r, was, m, "last_updated")
			}
		},
		Fresh: func(r *checkpoint.Record) (*checkpoint.Map, error) {
			if values.Sub(r.Doc(), "tasks").Len() == 0 {
				return nil, nil
			}
			return values.NewMap("workflow_id", cmp.Or(values.Text(r.Doc(), "workflow.id"), string(r.Issue())), "tasks", checkpoint.NewMap()), nil
		},
		Beside: "phase",
		File:   func(*checkpoint.Map) string { return "execution.json" }, OneLine: true,
	}
}

// addTasks adds the record's tasks that the document lacks.
func addTasks(now, m *checkpoint.Map) {
	known := tasksOf(values.Get(m, "tasks"))
	for id, task := range now.Subs() {
		if values.Has(known, id) {
			continue
		}
		said := taskWith(cmp.Or(values.Text(task, "status"), workflow.Pending), task)
		switch list := values.Get(m, "tasks").(type) {
		case *checkpoint.Map:
			list.Set(id, said)
		case []any:
			entry := values.NewMap("id", id)
			entry.Merge(said)
			m.Set("tasks", append(list, entry))
		}
	}
}

// eachTask calls do for each task mapping in a list, or in a mapping by id.
func eachTask(v any, do func(id, at string, task *checkpoint.Map)) {
	switch v := v.(type) {
	case *checkpoint.Map:
		for id, task := range v.Subs() {
			do(id, checkpoint.PathOf("", id), task)
		}
	case []any:
		for i, t := range v {
			if task, ok := t.(*checkpoint.Map); ok {
				do(cmp.Or(values.Text(task, "id", "task_id", "name"), strconv.Itoa(i+1)), checkpoint.PathOf("", i), task)
			}
		}
	}
}

// tasksOf returns tasks by id with the status values of records.
func tasksOf(v any) *checkpoint.Map {
	out := checkpoint.NewMap()
	eachTask(v, func(id, _ string, task *checkpoint.Map) {
		t := taskWith(taskStatus(values.Text(task, "status")), task)
		if _, file := outputOf(task); file != "" {
			t.Set("output", file)
		}
		out.Set(id, t)
	})
	return out
}

// taskStatus returns the record's value for a task status.
func taskStatus(word string) string {
	switch s := workflow.StatusOf(word); s {
	case workflow.InProgress:
		return "running"
	case workflow.Completed:
		return "complete"
	case workflow.Halted:
		return "blocked"
	case "":
		return workflow.Pending
	default:
		return s
	}
}

// updateTasks updates document tasks that differ from the record.
func updateTasks(now *checkpoint.Map, v any) {
	eachTask(v, func(id, _ string, task *checkpoint.Map) {
		said, ok := now.Get(id)
		t, isMap := said.(*checkpoint.Map)
		if !ok || !isMap {
			return
		}
		if s := values.Text(t, "status"); s != "" && s != taskStatus(values.Text(task, "status")) {
			task.Set("status", s)
		}
		values.Copy(task, t, "attempts", "started_at", "completed_at", "error")
		if file := values.Text(t, "output"); file != "" {
			setOutput(task, file)
		}
	})
}

// checkTasks checks tasks in a list or in a mapping by id.
func checkTasks(c *codec.Checker, path string, statuses []string) {
	v, ok := c.Given(path)
	if !ok {
		c.Fail(path, "required", "missing")
		return
	}
	m, isMap := v.(*checkpoint.Map)
	l, isList := v.([]any)
	if !isMap && !isList {
		c.Fail(path, "kind", "want a mapping by id or a list, got %s", codec.Shown(v))
		return
	}
	found := 0
	eachTask(v, func(_, at string, _ *checkpoint.Map) {
		found++
		if at[0] != '[' {
			at = "." + at
		}
		at = path + at
		c.Status(at+".status", statuses...)
		c.Number(at+".attempts", 0, codec.AnyNumber, true)
		c.Time(at+".started_at", at+".completed_at")
		for _, key := range outputKeys {
			c.Local(at+"."+key, at+"."+key+"[0]")
		}
	})
	if found != m.Len()+len(l) {
		c.Fail(path, "kind", "%d of its elements are no mappings", m.Len()+len(l)-found)
	}
}

// phasesKind returns the kind for phase files of related tools: a mapping of phases,
// each with a status.
func phasesKind() *codec.Kind {
	return &codec.Kind{
		Name: "phases",
		Is: func(m *checkpoint.Map) bool {
			_, ok := workflow.PhaseStates(values.Get(m, "phases"), "")
			return ok && values.HasAny(m, "currentPhase", "current_phase_id", "current_phase")
		},
		Rules: func(c *codec.Checker) {
			c.Text("project", "workflow_id")
			c.Time("created_at", "updated_at", "completed_at")
			c.Progress()
			for name, v := range values.Sub(c.Doc, "phases").All() {
				at := checkpoint.PathOf("phases", name)
				if _, ok := v.(*checkpoint.Map); ok {
					c.Status(at+".status", workflow.Pending, workflow.InProgress, workflow.Completed, workflow.Failed, workflow.Skipped)
					c.Time(at+".startedAt", at+".completedAt", at+".started_at", at+".completed_at")
				}
			}
		},
		Key: func(m *checkpoint.Map) string { return values.Text(m, "workflow_id", "project") },
		At:  func(m *checkpoint.Map) any { return values.Get(m, "updated_at") },
		Apply: func(m *checkpoint.Map, r *checkpoint.Record) {
			workflow.Set(r, "id", values.Text(m, "workflow_id"), "type", values.Text(m, "workflow_type"), "project", values.Text(m, "project"),
				"description", values.Text(m, "task_description"), "status", workflow.StatusOf(values.Text(m, "status")),
				"started_at", values.Text(m, "created_at"), "updated_at", values.Text(m, "updated_at"))
			p, _ := workflow.ReadProgress(m)
			workflow.PutProgress(r, p)
		},
	}
}

// tasksKind returns the kind for task files of related tools.
func tasksKind() *codec.Kind {
	return &codec.Kind{
		Name: "tasks", ListTasks: true,
		Is: func(m *checkpoint.Map) bool {
			return values.HasAny(m, "tasks") && (values.Has(m, "plan", "branch") || values.Has(m, "dependencies"))
		},
		Version: func(m *checkpoint.Map) string { return values.Text(m, "schema_version") },
		Rules: func(c *codec.Checker) {
			c.Text("plan", "branch")
			c.Local("plan", "spec", "worktree")
			checkTasks(c, "tasks", append([]string{"COMPLETE"}, taskStatuses...))
		},
		Key: func(m *checkpoint.Map) string { return values.Text(m, "branch") },
		At:  func(m *checkpoint.Map) any { return nil },
		Apply: func(m *checkpoint.Map, r *checkpoint.Record) {
			workflow.Set(r, "plan_path", values.Text(m, "plan"), "started_at", values.Text(m, "timestamps.started_at"))
			tasks := tasksOf(values.Get(m, "tasks"))
			if values.Text(m, "timestamps.completed_at", "completed_at") == "" {
				addNamedTasks(tasks, m)
			}
			r.Doc().Set("tasks", tasks)
		},
		Update: func(r *checkpoint.Record, m *checkpoint.Map) {
			updateTasks(values.Sub(r.Doc(), "tasks"), values.Get(m, "tasks"))
		},
	}
}

// addNamedTasks adds pending tasks that only other mappings of a document name: the mapping
// tasks may have those alone that were begun. Tasks with a lower number than the current one were
// done as a part of another task.
func addNamedTasks(tasks, m *checkpoint.Map) {
	current, isNumber := checkpoint.Number(values.Text(m, "current_task")).Int()
	add := func(id string) {
		n, ok := checkpoint.Number(id[strings.LastIndexByte(id, '_')+1:]).Int()
		if !values.Has(tasks, id) && (!isNumber || !ok || n >= current) {
			tasks.Set(id, values.NewMap("status", workflow.Pending))
		}
	}
	for _, key := range []string{"task_id_map", "risk_levels", "dependencies", "dependency_graph"} {
		for id, needs := range values.Sub(m, key).All() {
			add(id)
			if list, isList := needs.([]any); isList {
				for _, need := range values.Texts(list) {
					add(need)
				}
			}
		}
	}
}

// stepKind returns the kind for minimal phase files of related tools, in a folder
// named state.
func stepKind() *codec.Kind {
	return &codec.Kind{
		Name: "step", Under: "state", OneLine: true,
		Is: func(m *checkpoint.Map) bool { return values.Has(m, "phase") },
		Rules: func(c *codec.Checker) {
			c.Text("phase")
			c.Time("iter_started", "phase_started", "lastUpdated")
			c.Progress()
		},
		Key: func(m *checkpoint.Map) string { return values.Text(m, "contractId") },
		At:  func(m *checkpoint.Map) any { return values.First(m, "lastUpdated", "phase_started") },
		Apply: func(m *checkpoint.Map, r *checkpoint.Record) {
			workflow.Set(r, "status", workflow.StatusOf(values.Text(m, "phase")))
			p, _ := workflow.ReadProgress(m)
			p.Current = values.Text(m, "phase")
			workflow.PutProgress(r, p)
		},
	}
}
