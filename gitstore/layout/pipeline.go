package layout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
)

// pipelineStages lists the stages of a story by number.
var pipelineStages = []string{"stage_0", "stage_1", "stage_2", "stage_3"}

// pipelineSystem returns the pipeline system.
func pipelineSystem() *system {
	return &system{
		name:   Pipeline,
		kinds:  []*kind{pipelineStory(), pipelineState(), pipelineRun(), pipelineOther()},
		folder: func(checkpoint.Issue) string { return ".pipeline" },
		begin:  func(Start) (Beginning, error) { return Beginning{Phases: slices.Clone(pipelineStages)}, nil },
		enter: func(r *checkpoint.Record, story checkpoint.Issue) {
			r.Doc().Set("stage", newObject("number", 0, "story", string(story), "last_action", "started"))
		},
		texts: pipelineTexts,
	}
}

// pipelineStory returns the kind for checkpoint-{storyId}.json, a worker's state of a
// story.
func pipelineStory() *kind {
	return &kind{
		name: "story", listTasks: true,
		is: func(m *object) bool {
			return hasAny(m, "storyId", "tasksCompleted", "tasksRemaining") || has(m, "stage", "lastAction")
		},
		version: func(m *object) string {
			if has(m, "agentId") {
				return "1.0.0"
			}
			return "4.0.0"
		},
		rules:   storyRules,
		against: storyAgainst,
		key:     func(m *object) string { return text(m, "storyId") },
		at:      func(m *object) any { return get(m, "timestamp") },
		trigger: func(m *object) checkpoint.Trigger {
			if stageOf(get(m, "stage")) == 2 {
				return checkpoint.TaskUpdate
			}
			return checkpoint.PhaseTransition
		},
		apply: applyStory, judge: story.Judge, update: updateStory, fresh: freshStory,
		file:   func(m *object) string { return "checkpoint-" + text(m, "storyId") + ".json" },
		indent: defaultIndent,
	}
}

// stageOf returns the stage number of a document value.
func stageOf(v any) int { return story.Stage(textOf(v)) }

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
func applyStory(m *object, r *checkpoint.Record) {
	before, n := story.Stage(text(r.Doc(), "stage.number")), stageOf(get(m, "stage"))
	if text(r.Doc(), "stage.story") != text(m, "storyId") {
		before = -1
	}
	stage := newObject("number", n, "story", text(m, "storyId"), "last_action", text(m, "lastAction"))
	putText(stage, "agent", text(m, "agentId"))
	putText(stage, "at", text(m, "timestamp"))
	for _, f := range stageFields {
		if v := get(m, f[0]); v != nil {
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
func setStoryTasks(r *checkpoint.Record, m *object, goesOn bool) {
	before, tasks := sub(r.Doc(), "tasks"), checkpoint.NewMap()
	put := func(id, status string) {
		task := checkpoint.NewMap()
		if t, ok := get(before, checkpoint.PathOf("", id)).(*object); ok {
			task = t.Clone()
		}
		switch was := text(task, "status"); {
		case goesOn && over(was), status == pending && was == "running", over(was) && over(status):
		default:
			task.Set("status", status)
		}
		tasks.Set(id, task)
	}
	for _, id := range texts(get(m, "tasksCompleted")) {
		put(id, "complete")
	}
	for _, id := range texts(get(m, "tasksRemaining")) {
		put(id, pending)
	}
	for id, v := range before.All() {
		if t, _ := v.(*object); goesOn && !has(tasks, id) && over(text(t, "status")) {
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
	r.Doc().Set("workflow", newObject("status", map[bool]string{true: completed, false: inProgress}[done]))
}

// storyDone reports whether the story is complete.
func storyDone(m *object) bool {
	v := text(m, "verdict")
	return stageOf(get(m, "stage")) == 3 && v != "" && v != "FAIL"
}

// storyPoint returns the resume point of a story. A checkpoint marks the end of its
// stage, except in stage 2, which has a checkpoint per task.
func storyPoint(r *checkpoint.Record, m *object) string {
	n := stageOf(get(m, "stage"))
	_, left := tasksByState(r)
	switch v := text(m, "verdict"); {
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
func updateStory(r *checkpoint.Record, m *object) {
	was := m.Clone()
	done, left := texts(get(m, "tasksCompleted")), texts(get(m, "tasksRemaining"))
	nowDone, nowLeft := tasksByState(r)
	if strings.Join(sorted(done), "\n") != strings.Join(sorted(nowDone), "\n") {
		m.Set("tasksCompleted", nowDone)
	}
	if strings.Join(sorted(left), "\n") != strings.Join(sorted(nowLeft), "\n") {
		m.Set("tasksRemaining", nowLeft)
	}
	stage := sub(r.Doc(), "stage")
	if n, ok := number(text(stage, "number")).Int(); ok && int(n) != stageOf(get(m, "stage")) {
		m.Set("stage", n)
	}
	putText(m, "lastAction", text(stage, "last_action"))
	for _, f := range stageFields {
		if v := get(stage, f[1]); v != nil {
			put(m, f[0], v)
		}
	}
	touch(r, was, m, "timestamp")
}

func freshStory(r *checkpoint.Record) (*object, error) {
	stage := sub(r.Doc(), "stage")
	n, ok := number(text(stage, "number")).Int()
	if !ok {
		return nil, fmt.Errorf("the record has no stage")
	}
	return newObject(
		"storyId", cmp.Or(text(stage, "story"), string(r.Issue())), "stage", n, "agentId", text(stage, "agent"),
		"tasksCompleted", []any{}, "tasksRemaining", []any{}, "lastAction", cmp.Or(text(stage, "last_action"), r.Note(), "saved"),
		"timestamp", seconds(r.CreatedAt()),
	), nil
}

// pipelineRun returns the kind for the single file of a real run: stage, gate and
// counters.
func pipelineRun() *kind {
	return &kind{
		name:    "run",
		is:      func(m *object) bool { return has(m, "pipeline_run_id") || has(m, "retry_counters", "gate") },
		version: func(*object) string { return "run" },
		rules:   runRules,
		key:     func(m *object) string { return text(m, "story_id", "pipeline_run_id") },
		at:      func(m *object) any { return get(m, "timestamps.updated_at") },
		apply: func(m *object, r *checkpoint.Record) {
			n, done := stageOf(get(m, "stage")), over(text(m, "status")) || stageOf(get(m, "stage")) == 4
			stage := newObject("number", n, "story", text(m, "story_id"))
			putText(stage, "verdict", text(m, "gate.verdict"))
			if v := get(m, "gate.score"); v != nil {
				stage.Set("quality_score", v)
			}
			r.Doc().Set("stage", stage)
			setStages(r, n, done)
			setWorkflow(r, "id", text(m, "pipeline_run_id"), "status", statusOf(text(m, "status")),
				"started_at", text(m, "timestamps.created_at"), "updated_at", text(m, "timestamps.updated_at"), "last_error", text(m, "last_error"))
		},
		update: func(r *checkpoint.Record, m *object) {
			was := m.Clone()
			updateStatus(r, m, "status")
			updateError(r, m, "last_error")
			if t, ok := get(m, "timestamps").(*object); ok && !checkpoint.Equal(was, m) {
				t.Set("updated_at", seconds(r.CreatedAt()))
			}
		},
		file:   func(*object) string { return "state.json" },
		indent: defaultIndent,
	}
}

func runRules(c *checker) {
	c.required("stage", "status")
	c.text("pipeline_run_id", "story_id", "last_error", "checkpoint_ref")
	if v, ok := c.given("stage"); ok && stageOf(v) < 0 && textOf(v) != "preflight" {
		c.fail("stage", "enum", "want preflight or one of stage_0 to stage_4, got %s", shown(v))
	}
	c.status("status", "idle", "running", "paused", completed, failed)
	c.oneOf("gate.verdict", "GO", "NO-GO", "PASS", "CONCERNS", "WAIVED", "FAIL")
	checkScore(c, "gate.score")
	c.number("retry_counters.current_stage", 0, anyNumber, true)
	c.number("retry_counters.total", 0, anyNumber, true)
	c.time("gate.last_checked_at", "timestamps.created_at", "timestamps.updated_at")
}

// pipelineOther returns the kind for files of related tools at the same path. The file is
// stored completely; only phase, status and times are interpreted.
func pipelineOther() *kind {
	return &kind{
		name: "other", under: ".pipeline", rest: true,
		is: func(m *object) bool { return m.Len() > 0 },
		rules: func(c *checker) {
			c.text("phase", "stage", "step", "status", "currentStage", "current_stage")
			c.time("timestamp", "startedAt", "started_at", "last_updated_at", "created_at")
		},
		key: func(m *object) string { return text(m, "story_id", "pipelineId", "project_id", "feature", "project") },
		at: func(m *object) any {
			return cmp.Or(get(m, "timestamp"), get(m, "last_updated_at"), get(m, "last_event_at"))
		},
		trigger: func(*object) checkpoint.Trigger { return checkpoint.Interval },
		apply: func(m *object, r *checkpoint.Record) {
			setWorkflow(r, "project", text(m, "project", "project_id"), "description", text(m, "feature", "goal"),
				"status", statusOf(text(m, "status")), "started_at", text(m, "started_at", "startedAt"))
			r.SetPhase(text(m, "phase", "stage", "current_stage", "currentStage", "current_phase", "currentMilestone"))
		},
		indent: defaultIndent,
	}
}
