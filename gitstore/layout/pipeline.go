package layout

import (
	"cmp"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// pipelineStages lists the stages of a story by number.
var pipelineStages = []string{"stage_0", "stage_1", "stage_2", "stage_3"}

// pipelineSystem returns the pipeline system.
func pipelineSystem() *codec.System {
	return &codec.System{
		Name:   Pipeline,
		Kinds:  []*codec.Kind{pipelineStory(), pipelineState(), pipelineRun(), pipelineOther()},
		Folder: func(checkpoint.Issue) string { return ".pipeline" },
		Begin: func(codec.Start) (codec.Beginning, error) {
			return codec.Beginning{Phases: slices.Clone(pipelineStages)}, nil
		},
		Enter: func(r *checkpoint.Record, story checkpoint.Issue) {
			r.Doc().Set("stage", values.NewMap("number", 0, "story", string(story), "last_action", "started"))
		},
		Texts: pipelineTexts,
	}
}

// pipelineStory returns the kind for checkpoint-{storyId}.json, a worker's state of a
// story.
func pipelineStory() *codec.Kind {
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
	at := max(0, min(stage, len(pipelineStages)-1))
	p := checkpoint.Progress{Current: pipelineStages[at], Names: pipelineStages, Completed: pipelineStages[:at]}
	if done {
		p.Completed = pipelineStages
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
	return pipelineStages[n+1]
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

// pipelineRun returns the kind for the single file of a real run: stage, gate and
// counters.
func pipelineRun() *codec.Kind {
	return &codec.Kind{
		Name: "run",
		Is: func(m *checkpoint.Map) bool {
			return values.Has(m, "pipeline_run_id") || values.Has(m, "retry_counters", "gate")
		},
		Version: func(*checkpoint.Map) string { return "run" },
		Rules:   runRules,
		Key:     func(m *checkpoint.Map) string { return values.Text(m, "story_id", "pipeline_run_id") },
		At:      func(m *checkpoint.Map) any { return values.Get(m, "timestamps.updated_at") },
		Apply: func(m *checkpoint.Map, r *checkpoint.Record) {
			n, done := stageOf(values.Get(m, "stage")), workflow.IsDone(values.Text(m, "status")) || stageOf(values.Get(m, "stage")) == 4
			stage := values.NewMap("number", n, "story", values.Text(m, "story_id"))
			values.PutText(stage, "verdict", values.Text(m, "gate.verdict"))
			if v := values.Get(m, "gate.score"); v != nil {
				stage.Set("quality_score", v)
			}
			r.Doc().Set("stage", stage)
			setStages(r, n, done)
			workflow.Set(r, "id", values.Text(m, "pipeline_run_id"), "status", workflow.StatusOf(values.Text(m, "status")),
				"started_at", values.Text(m, "timestamps.created_at"), "updated_at", values.Text(m, "timestamps.updated_at"), "last_error", values.Text(m, "last_error"))
		},
		Update: func(r *checkpoint.Record, m *checkpoint.Map) {
			was := m.Clone()
			workflow.UpdateStatus(r, m, "status")
			workflow.UpdateError(r, m, "last_error")
			if t, ok := values.Get(m, "timestamps").(*checkpoint.Map); ok && !checkpoint.Equal(was, m) {
				t.Set("updated_at", workflow.FormatTime(r.CreatedAt()))
			}
		},
		File:   func(*checkpoint.Map) string { return "state.json" },
		Indent: codec.DefaultIndent,
	}
}

func runRules(c *codec.Checker) {
	c.Required("stage", "status")
	c.Text("pipeline_run_id", "story_id", "last_error", "checkpoint_ref")
	if v, ok := c.Given("stage"); ok && stageOf(v) < 0 && values.AsText(v) != "preflight" {
		c.Fail("stage", "enum", "want preflight or one of stage_0 to stage_4, got %s", codec.Shown(v))
	}
	c.Status("status", "idle", "running", "paused", workflow.Completed, workflow.Failed)
	c.OneOf("gate.verdict", "GO", "NO-GO", "PASS", "CONCERNS", "WAIVED", "FAIL")
	checkScore(c, "gate.score")
	c.Number("retry_counters.current_stage", 0, codec.AnyNumber, true)
	c.Number("retry_counters.total", 0, codec.AnyNumber, true)
	c.Time("gate.last_checked_at", "timestamps.created_at", "timestamps.updated_at")
}

// pipelineOther returns the kind for files of related tools at the same path. The file is
// stored completely; only phase, status and times are interpreted.
func pipelineOther() *codec.Kind {
	return &codec.Kind{
		Name: "other", Under: ".pipeline", Rest: true,
		Is: func(m *checkpoint.Map) bool { return m.Len() > 0 },
		Rules: func(c *codec.Checker) {
			c.Text("phase", "stage", "step", "status", "currentStage", "current_stage")
			c.Time("timestamp", "startedAt", "started_at", "last_updated_at", "created_at")
		},
		Key: func(m *checkpoint.Map) string {
			return values.Text(m, "story_id", "pipelineId", "project_id", "feature", "project")
		},
		At: func(m *checkpoint.Map) any {
			return cmp.Or(values.Get(m, "timestamp"), values.Get(m, "last_updated_at"), values.Get(m, "last_event_at"))
		},
		Trigger: func(*checkpoint.Map) checkpoint.Trigger { return checkpoint.Interval },
		Apply: func(m *checkpoint.Map, r *checkpoint.Record) {
			workflow.Set(r, "project", values.Text(m, "project", "project_id"), "description", values.Text(m, "feature", "goal"),
				"status", workflow.StatusOf(values.Text(m, "status")), "started_at", values.Text(m, "started_at", "startedAt"))
			r.SetPhase(values.Text(m, "phase", "stage", "current_stage", "currentStage", "current_phase", "currentMilestone"))
		},
		Indent: codec.DefaultIndent,
	}
}
