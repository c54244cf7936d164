package pipeline

import (
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// runKind returns the kind for the single file of a real run: stage, gate and
// counters.
func runKind() *codec.Kind {
	return &codec.Kind{
		Name: "run",
		Is: func(m *checkpoint.Map) bool {
			return values.Has(m, "pipeline_run_id") || values.Has(m, "retry_counters", "gate")
		},
		Version: func(*checkpoint.Map) string { return "run" },
		Rules: func(c *codec.Checker) {
			c.Required("stage", "status")
			c.Text("pipeline_run_id", "story_id", "last_error", "checkpoint_ref")
			if v, ok := c.Given("stage"); ok && stageOf(v) < 0 && values.AsText(v) != "preflight" {
				c.Fail("stage", "enum", "want preflight or one of stage_0 to stage_4, got %s", codec.Shown(v))
			}
			c.Status("status", "idle", "running", "paused", workflow.Completed, workflow.Failed)
			c.OneOf("gate.verdict", "GO", "NO-GO", "PASS", "CONCERNS", "WAIVED", "FAIL")
			checkScore(c, story.Field{Document: "gate.score", Max: 100})
			c.Number("retry_counters.current_stage", 0, codec.AnyNumber, true)
			c.Number("retry_counters.total", 0, codec.AnyNumber, true)
			c.Time("gate.last_checked_at", "timestamps.created_at", "timestamps.updated_at")
		},
		Key: func(m *checkpoint.Map) string { return values.Text(m, "story_id", "pipeline_run_id") },
		At:  func(m *checkpoint.Map) any { return values.Get(m, "timestamps.updated_at") },
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
		File: func(*checkpoint.Map) string { return "state.json" },
	}
}

// otherKind returns the kind for files of related tools at the same path. The file is
// stored completely; only phase, status and times are interpreted.
func otherKind() *codec.Kind {
	return &codec.Kind{
		Name: "other", Under: ".pipeline", Rest: true,
		Is: func(m *checkpoint.Map) bool { return m.Len() > 0 },
		Rules: func(c *codec.Checker) {
			c.Text("phase", "stage", "step", "status", "currentStage", "current_stage")
			c.Time("timestamp", "startedAt", "started_at", "last_updated_at", "created_at")
			c.Progress()
		},
		Key: func(m *checkpoint.Map) string {
			return values.Text(m, "story_id", "pipelineId", "project_id", "feature", "project")
		},
		At: func(m *checkpoint.Map) any {
			return values.First(m, "timestamp", "last_updated_at", "last_event_at", "updated_at")
		},
		Trigger: func(*checkpoint.Map) checkpoint.Trigger { return checkpoint.Interval },
		Apply: func(m *checkpoint.Map, r *checkpoint.Record) {
			status := workflow.StatusOf(values.Text(m, "status"))
			if status == "" && workflow.StatusOf(values.Text(m, "phase", "stage", "step")) == workflow.Completed {
				status = workflow.Completed // the phase "done" is none to continue in
			}
			if status == workflow.Completed && values.Get(m, "project_complete") == false {
				status = workflow.InProgress // the status is that of a step
			}
			workflow.Set(r, "project", values.Text(m, "project", "project_id"), "description", values.Text(m, "feature", "goal", "task"),
				"status", status, "started_at", values.Text(m, "started_at", "startedAt"))
			p, _ := workflow.ReadProgress(m)
			workflow.PutProgress(r, p)
		},
	}
}
