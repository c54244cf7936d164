// Package recovery describes the documents of the recovery system. It has one kind,
// workflow: phases with artifacts and durations, and a history of replans.
package recovery

import (
	"cmp"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/layout/internal/codec"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// Name is the name of the system.
const Name codec.Name = "recovery"

// System returns the recovery system.
func System() *codec.System {
	return &codec.System{
		Name:   Name,
		Kinds:  []*codec.Kind{workflowKind()},
		Folder: ".claude/data/checkpoints",
		Begin:  begin,
		Texts:  resumeTexts,
	}
}

// begin names the workflow after its plan.
func begin(s codec.Start) (codec.Beginning, error) {
	if s.PlanPath == "" {
		return codec.Beginning{}, nil
	}
	id := PlanIDs(s.PlanPath)[0]
	return codec.Beginning{ID: id, Key: id}, nil
}

// PlanIDs returns the two possible workflow ids of a plan: the MD5 digest of the path with
// the newline of echo, and the digest without the newline.
func PlanIDs(plan string) []string {
	ids := make([]string, 2)
	for i, s := range []string{plan + "\n", plan} {
		sum := md5.Sum([]byte(s))
		ids[i] = hex.EncodeToString(sum[:])
	}
	return ids
}

// resumeTexts uses the first unfinished phase, because the document's current phase may
// already be completed.
func resumeTexts(r *checkpoint.Record) (codec.Texts, error) {
	at := progress.PointOf(r)
	current, done := at.Phase, values.Line(strings.Join(r.Progress().Completed, ","))
	if at.Complete {
		return codec.Texts{
			Found:   fmt.Sprintf("Found existing checkpoint for this plan.\nCompleted phases: %s\n", done),
			Resumed: fmt.Sprintf("Completed phases: %s\n", done),
		}, nil
	}
	if current == "" {
		return codec.Texts{}, errors.New("the record has no phase")
	}
	return codec.Texts{
		Found:    fmt.Sprintf("Found existing checkpoint for this plan.\nCurrent phase: %s\nCompleted phases: %s\n", values.Line(current), done),
		Question: "Resume from checkpoint? (Y/n) ",
		Resumed:  fmt.Sprintf("Resuming from Phase %s\nCompleted phases: %s\nSkipping completed work...\n", values.Line(current), done),
	}, nil
}

// workflowKind returns the kind for documents of the recovery system: phases with
// artifacts and durations, and a replan history.
func workflowKind() *codec.Kind {
	return &codec.Kind{
		Name: "workflow",
		Is: func(m *checkpoint.Map) bool {
			return values.HasAny(m, "workflow_id", "phase_metadata") && values.HasAny(m, "completed_phases", "phase_metadata", "replan_history", "replan_count") &&
				!values.HasAny(m, "phase_status", "workflow_type", "workflow_data", "user_checkpoints")
		},
		Rules: rules,
		Key:   func(m *checkpoint.Map) string { return values.Text(m, "workflow_id") },
		At:    lastPhaseTime,
		Apply: func(m *checkpoint.Map, r *checkpoint.Record) {
			before := workflow.PastOf(r, values.Text(m, "workflow_id"))
			workflow.Set(r, "id", values.Text(m, "workflow_id"), "description", values.Text(m, "workflow_description", "description"),
				"status", workflow.StatusOf(values.Text(m, "status")), "plan_path", values.Text(m, "plan_path"),
				"started_at", values.Text(m, "created_at", "started_at"), "updated_at", values.Text(m, "updated_at"), "last_error", values.Text(m, "last_error"))
			workflow.SetPhases(r, workflow.PhaseName(values.Get(m, "current_phase")), workflow.Phases(values.Get(m, "completed_phases")), values.Text(m, "total_phases"))
			readPhases(before, r, values.Sub(m, "phase_metadata"))
			readReplans(before, r, m)
			for _, key := range contextKeys {
				if said := values.Sub(m, key); said.Len() > 0 {
					r.Doc().MustSub("workflow").Set(key, said.Clone())
				}
			}
		},
		Update: update,
		Fresh:  fresh,
		File:   func(m *checkpoint.Map) string { return values.Text(m, "workflow_id") + ".json" },
	}
}

// lastPhaseTime returns the document's time, or the end of its newest phase if the
// document has no time.
func lastPhaseTime(m *checkpoint.Map) any {
	if at := values.Text(m, "updated_at", "timestamp"); at != "" {
		return at
	}
	var newest any
	for _, phase := range m.Sub("phase_metadata").Subs() {
		at := values.Get(phase, "timestamp")
		t, err := checkpoint.ParseTime(at)
		was, old := checkpoint.ParseTime(newest)
		if err == nil && (old != nil || t.After(was)) {
			newest = at
		}
	}
	return newest
}

// contextKeys are the mappings that a resume returns to the orchestrator.
var contextKeys = []string{"artifact_paths", "context_metadata"}

func update(r *checkpoint.Record, m *checkpoint.Map) {
	before := workflow.PhaseSet(values.Get(m, "completed_phases"))
	phaseDetails(r, m)
	replanDetails(r, m)
	for _, key := range contextKeys {
		if known, ok := values.Get(r.Doc(), "workflow."+key).(*checkpoint.Map); ok && !values.Same(known, values.Sub(m, key)) {
			m.Set(key, known.Clone())
		}
	}
	workflow.UpdatePhases(r, m, "current_phase", "completed_phases", "total_phases")
	if values.Has(m, "status") && !(progress.PointOf(r).Complete && workflow.StatusOf(values.Text(m, "status")) == workflow.Completed) {
		workflow.UpdateStatus(r, m, "status")
	}
	if values.Has(m, "last_error") || values.Text(r.Doc(), "workflow.last_error") != "" {
		workflow.UpdateError(r, m, "last_error")
	}
	for _, p := range workflow.Phases(values.Get(m, "completed_phases")) {
		if !before[p] && !values.Has(values.Sub(m, "phase_metadata"), p) {
			m.MustSub("phase_metadata").Set(p, values.NewMap("status", workflow.Completed, "artifacts", []any{}, "timestamp", workflow.FormatTime(r.CreatedAt())))
		}
	}
}

// fresh returns the document of a workflow without one. If all phases are over, the last one
// stays the current one.
func fresh(r *checkpoint.Record) (*checkpoint.Map, error) {
	p, at := r.Progress(), progress.PointOf(r)
	last := "0"
	if len(p.Completed) > 0 {
		last = p.Completed[len(p.Completed)-1]
	}
	m := values.NewMap(
		"workflow_id", cmp.Or(values.Text(r.Doc(), "workflow.id"), string(r.Issue())),
		"plan_path", values.Get(r.Doc(), "workflow.plan_path"),
		"current_phase", values.Spelled(cmp.Or(p.Current, at.Phase, last)), "completed_phases", values.SpelledAll(p.Completed),
		"phase_metadata", values.NewMap(), "replan_history", []any{}, "replan_count", values.NewMap(),
		"artifact_paths", values.NewMap(), "context_metadata", values.NewMap(),
	)
	if at.Complete {
		m.Set("status", workflow.Completed)
	}
	return m, nil
}

func rules(c *codec.Checker) {
	c.Required("workflow_id")
	for _, key := range []string{"current_phase", "completed_phases"} {
		if v, _ := c.Doc.Get(key); v == nil {
			c.Fail(key, "required", "missing")
		}
	}
	c.Text("workflow_id", "plan_path", "status", "last_error")
	c.Phase("current_phase")
	c.Number("total_phases", 0, codec.AnyNumber, true)
	c.Phases("completed_phases")
	c.Time("created_at", "updated_at", "started_at")
	c.Local("plan_path")
	checkPhaseMetadata(c)
	c.Replans()
	paths, _ := c.Mapping("artifact_paths")
	for name := range paths.All() {
		at := checkpoint.PathOf("artifact_paths", name)
		c.Text(at)
		c.Local(at)
	}
	c.Mapping("context_metadata")
	current := workflow.PhaseName(values.Get(c.Doc, "current_phase"))
	if workflow.PhaseSet(values.Get(c.Doc, "completed_phases"))[current] { // work resumes at the first unfinished phase
		c.Warn("current_phase", "consistency", "phase %.40s is completed already", current)
	}
	c.Named(values.Text(c.Doc, "workflow_id"))
}

func checkPhaseMetadata(c *codec.Checker) {
	meta, ok := c.Mapping("phase_metadata")
	if !ok {
		return
	}
	for phase, v := range meta.All() {
		at := checkpoint.PathOf("phase_metadata", phase)
		m, isMap := v.(*checkpoint.Map)
		if !isMap {
			c.Fail(at, "kind", "want a mapping, got %s", codec.Shown(v))
			continue
		}
		c.Status(at+".status", workflow.Completed, workflow.Failed, workflow.Skipped, workflow.InProgress, workflow.Pending)
		c.Texts(at + ".artifacts")
		c.Number(at+".duration_minutes", 0, codec.AnyNumber, false)
		c.Time(at + ".timestamp")
		if n := len(strings.Fields(values.Text(m, "summary"))); n > 200 {
			c.Fail(at+".summary", "range", "%d words, want at most 200", n)
		} else if n > 50 {
			c.Warn(at+".summary", "range", "%d words, want at most 50", n)
		}
	}
}
