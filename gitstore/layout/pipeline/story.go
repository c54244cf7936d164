package pipeline

import (
	"cmp"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// storyKind returns the kind for checkpoint-{storyId}.json, a worker's state of a
// story.
func storyKind() *codec.Kind {
	return &codec.Kind{
		Name: "story", ListTasks: true,
		Is: func(m *checkpoint.Map) bool {
			return values.HasAny(m, "storyId", "tasksCompleted", "tasksRemaining") || values.Has(m, "stage", "lastAction")
		},
		Version: func(m *checkpoint.Map) string {
			if values.Has(m, "agentId") {
				return "1.0.0"
			}
			return "4.0.0"
		},
		Rules:   storyRules,
		Against: storyAgainst,
		Key:     func(m *checkpoint.Map) string { return values.Text(m, "storyId") },
		At:      func(m *checkpoint.Map) any { return values.Get(m, "timestamp") },
		Trigger: func(m *checkpoint.Map) checkpoint.Trigger {
			if stageOf(values.Get(m, "stage")) == 2 {
				return checkpoint.TaskUpdate
			}
			return checkpoint.PhaseTransition
		},
		Apply: applyStory, Judge: story.Judge, Update: updateStory, Fresh: freshStory, Provide: provideField,
		File: func(m *checkpoint.Map) string { return "checkpoint-" + values.Text(m, "storyId") + ".json" },
	}
}

// stageOf returns the stage number of a document value.
func stageOf(v any) int { return story.Stage(values.AsText(v)) }

// applyStory sets the sections stage, tasks and progress, and the resume point.
func applyStory(m *checkpoint.Map, r *checkpoint.Record) {
	before, n := story.Stage(values.Text(r.Doc(), "stage.number")), stageOf(values.Get(m, "stage"))
	if values.Text(r.Doc(), "stage.story") != values.Text(m, "storyId") {
		before = -1
	}
	stage := values.NewMap("number", n, "story", values.Text(m, "storyId"), "last_action", values.Text(m, "lastAction"))
	values.PutText(stage, "agent", values.Text(m, "agentId"))
	values.PutText(stage, "at", values.Text(m, "timestamp"))
	for _, f := range story.Fields() {
		if v := values.Get(m, f.Document); v != nil {
			stage.Set(f.Key, v)
		}
	}
	r.Doc().Set("stage", stage)
	setStoryTasks(r, m, before == story.Work && n == story.Work)
	point := storyPoint(r, m)
	verdict := values.Text(m, "verdict")
	setStages(r, n, n == 3 && verdict != "" && verdict != "FAIL")
	if next := slices.Index(stages, point); next >= 0 {
		r.SetProgress(checkpoint.Progress{Current: stages[next], Names: stages, Completed: stages[:next]})
	}
	r.SetResumeFrom(point)
}

// setStoryTasks updates the status of the document's tasks and preserves their other
// values. Within stage 2, completed tasks stay complete: another worker of the story may
// have completed a task without this document.
func setStoryTasks(r *checkpoint.Record, m *checkpoint.Map, goesOn bool) {
	before, tasks := values.Sub(r.Doc(), "tasks"), checkpoint.NewMap()
	put := func(id, status string) {
		task := checkpoint.NewMap()
		if t, ok := values.Get(before, checkpoint.PathOf("", id)).(*checkpoint.Map); ok {
			task = t.Clone()
		}
		switch was := values.Text(task, "status"); {
		case goesOn && workflow.IsDone(was), status == workflow.Pending && was == "running", workflow.IsDone(was) && workflow.IsDone(status):
		default:
			task.Set("status", status)
		}
		tasks.Set(id, task)
	}
	for _, id := range values.Texts(values.Get(m, "tasksCompleted")) {
		put(id, "complete")
	}
	for _, id := range values.Texts(values.Get(m, "tasksRemaining")) {
		put(id, workflow.Pending)
	}
	for id, t := range before.Subs() {
		if goesOn && !values.Has(tasks, id) && workflow.IsDone(values.Text(t, "status")) {
			tasks.Set(id, t)
		}
	}
	r.Doc().Set("tasks", tasks)
}

// setStages sets the phases of the record to the stages.
func setStages(r *checkpoint.Record, stage int, done bool) {
	at := max(0, min(stage, len(stages)-1))
	p := checkpoint.Progress{Current: stages[at], Names: stages, Completed: stages[:at]}
	if done {
		p.Completed = stages
	}
	r.Doc().Delete("progress")
	r.SetProgress(p)
	r.SetPhase(p.Current)
	r.Doc().Set("workflow", values.NewMap("status", map[bool]string{true: workflow.Completed, false: workflow.InProgress}[done]))
}

// storyPoint returns the resume point of a story. A checkpoint marks the end of its
// stage, except in stage 2, which has a checkpoint per task.
func storyPoint(r *checkpoint.Record, m *checkpoint.Map) string {
	n := stageOf(values.Get(m, "stage"))
	_, left := workflow.Tasks(r)
	switch v := values.Text(m, "verdict"); {
	case n < 0:
		return ""
	case n == 2 && len(left) > 0:
		return left[0]
	case n == 1 && v == "NO-GO":
		return "stage_1"
	case n == 3 && v == "FAIL":
		return "stage_2"
	case n >= 3:
		return "DONE"
	}
	return stages[n+1]
}

// updateStory updates task lists, stage and stage fields that differ from the record. A
// new stage has none of the fields of the former stage.
func updateStory(r *checkpoint.Record, m *checkpoint.Map) {
	was, stage := m.Clone(), values.Sub(r.Doc(), "stage")
	if n, ok := checkpoint.Number(values.Text(stage, "number")).Int(); ok && int(n) != stageOf(values.Get(m, "stage")) {
		m.Set("stage", n)
		for _, f := range story.Fields() {
			m.Delete(f.Document)
		}
	}
	at := stageOf(values.Get(m, "stage"))
	done, left := values.Texts(values.Get(m, "tasksCompleted")), values.Texts(values.Get(m, "tasksRemaining"))
	nowDone, nowLeft := workflow.Tasks(r)
	if at == story.Validation {
		nowDone, nowLeft = []string{}, []string{} // the tasks of a story are named in the other stages
	}
	if !values.SameTexts(done, nowDone) {
		m.Set("tasksCompleted", nowDone)
	}
	if !values.SameTexts(left, nowLeft) {
		m.Set("tasksRemaining", nowLeft)
	}
	values.PutText(m, "lastAction", values.Text(stage, "last_action"))
	for _, f := range story.Fields() {
		if v := values.Get(stage, f.Key); v != nil && (f.Stage == at || values.Has(m, f.Document)) {
			values.Put(m, f.Document, v)
		}
	}
	workflow.Touch(r, was, m, "timestamp")
}

// freshStory returns the document of a story without one. An agent that is not named is
// known by its session.
func freshStory(r *checkpoint.Record) (*checkpoint.Map, error) {
	stage := values.Sub(r.Doc(), "stage")
	n, ok := checkpoint.Number(values.Text(stage, "number")).Int()
	if !ok {
		return nil, fmt.Errorf("the record has no stage")
	}
	return values.NewMap(
		"storyId", cmp.Or(values.Text(stage, "story"), string(r.Issue())), "stage", n, "agentId", cmp.Or(values.Text(stage, "agent"), r.Session()),
		"tasksCompleted", []any{}, "tasksRemaining", []any{}, "lastAction", cmp.Or(values.Text(stage, "last_action"), r.Note(), "saved"),
		"timestamp", workflow.FormatTime(r.CreatedAt()),
	), nil
}

// provideField returns the command that provides a missing value of a story's document.
func provideField(issue checkpoint.Issue, key string) string {
	if key == "tasksRemaining" {
		return "git checkpoint task add TASK... --issue " + failure.Quote(string(issue))
	}
	for _, f := range story.Fields() {
		if f.Document == key {
			return "git checkpoint save " + failure.IssueArg(string(issue)) + " --set stage." + f.Key + "=VALUE"
		}
	}
	return ""
}
