package pipeline

import (
	"cmp"
	"fmt"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
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
		Apply: applyStory, Judge: story.Judge, Update: updateStory, Fresh: freshStory,
		File:   func(m *checkpoint.Map) string { return "checkpoint-" + values.Text(m, "storyId") + ".json" },
		Indent: codec.DefaultIndent,
	}
}

// stageOf returns the stage number of a document value.
func stageOf(v any) int { return story.Stage(values.AsText(v)) }

// stageFields maps document keys of single stages to record keys.
var stageFields = [][2]string{
	{"planScore", "plan_score"},
	{"readiness", "readiness"},
	{"verdict", "verdict"},
	{"reason", "reason"},
	{"qualityScore", "quality_score"},
	{"issues", "issues"},
}

// applyStory sets the sections stage, tasks and progress, and the resume point.
func applyStory(m *checkpoint.Map, r *checkpoint.Record) {
	before, n := story.Stage(values.Text(r.Doc(), "stage.number")), stageOf(values.Get(m, "stage"))
	if values.Text(r.Doc(), "stage.story") != values.Text(m, "storyId") {
		before = -1
	}
	stage := values.NewMap("number", n, "story", values.Text(m, "storyId"), "last_action", values.Text(m, "lastAction"))
	values.PutText(stage, "agent", values.Text(m, "agentId"))
	values.PutText(stage, "at", values.Text(m, "timestamp"))
	for _, f := range stageFields {
		if v := values.Get(m, f[0]); v != nil {
			stage.Set(f[1], v)
		}
	}
	r.Doc().Set("stage", stage)
	setStoryTasks(r, m, before == story.Work && n == story.Work)
	setStages(r, n, storyDone(m))
	r.SetResumeFrom(storyPoint(r, m))
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
	for id, v := range before.All() {
		if t, _ := v.(*checkpoint.Map); goesOn && !values.Has(tasks, id) && workflow.IsDone(values.Text(t, "status")) {
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

// storyDone reports whether the story is complete.
func storyDone(m *checkpoint.Map) bool {
	v := values.Text(m, "verdict")
	return stageOf(values.Get(m, "stage")) == 3 && v != "" && v != "FAIL"
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

// updateStory updates task lists, stage and stage fields that differ from the record.
func updateStory(r *checkpoint.Record, m *checkpoint.Map) {
	was := m.Clone()
	done, left := values.Texts(values.Get(m, "tasksCompleted")), values.Texts(values.Get(m, "tasksRemaining"))
	nowDone, nowLeft := workflow.Tasks(r)
	if !values.SameTexts(done, nowDone) {
		m.Set("tasksCompleted", nowDone)
	}
	if !values.SameTexts(left, nowLeft) {
		m.Set("tasksRemaining", nowLeft)
	}
	stage := values.Sub(r.Doc(), "stage")
	if n, ok := checkpoint.Number(values.Text(stage, "number")).Int(); ok && int(n) != stageOf(values.Get(m, "stage")) {
		m.Set("stage", n)
	}
	values.PutText(m, "lastAction", values.Text(stage, "last_action"))
	for _, f := range stageFields {
		if v := values.Get(stage, f[1]); v != nil {
			values.Put(m, f[0], v)
		}
	}
	workflow.Touch(r, was, m, "timestamp")
}

func freshStory(r *checkpoint.Record) (*checkpoint.Map, error) {
	stage := values.Sub(r.Doc(), "stage")
	n, ok := checkpoint.Number(values.Text(stage, "number")).Int()
	if !ok {
		return nil, fmt.Errorf("the record has no stage")
	}
	return values.NewMap(
		"storyId", cmp.Or(values.Text(stage, "story"), string(r.Issue())), "stage", n, "agentId", values.Text(stage, "agent"),
		"tasksCompleted", []any{}, "tasksRemaining", []any{}, "lastAction", cmp.Or(values.Text(stage, "last_action"), r.Note(), "saved"),
		"timestamp", workflow.FormatTime(r.CreatedAt()),
	), nil
}
