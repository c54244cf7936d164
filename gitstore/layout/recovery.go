package layout

import (
	"cmp"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// recoverySystem returns the recovery system.
func recoverySystem() *system {
	return &system{
		name:   Recovery,
		kinds:  []*kind{recoveryWorkflow()},
		folder: func(checkpoint.Issue) string { return ".claude/data/checkpoints" },
		begin:  recoveryBegin,
		texts:  recoveryTexts,
	}
}

// recoveryBegin names the workflow after its plan.
func recoveryBegin(s Start) (Beginning, error) {
	if s.PlanPath == "" {
		return Beginning{}, nil
	}
	id := PlanIDs(s.PlanPath)[0]
	return Beginning{ID: id, Key: id}, nil
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

// recoveryTexts uses the first unfinished phase, because the document's current phase may
// already be completed.
func recoveryTexts(r *checkpoint.Record) (Texts, error) {
	p := r.Progress()
	current := p.Current
	if len(p.Remaining) > 0 {
		current = p.Remaining[0]
	}
	if current == "" {
		return Texts{}, errors.New("the record has no phase")
	}
	done := line(strings.Join(p.Completed, ","))
	return Texts{
		Found:    fmt.Sprintf("Found existing checkpoint for this plan.\nCurrent phase: %s\nCompleted phases: %s\n", line(current), done),
		Question: "Resume from checkpoint? (Y/n) ",
		Resumed:  fmt.Sprintf("Resuming from Phase %s\nCompleted phases: %s\nSkipping completed work...\n", line(current), done),
	}, nil
}

// recoveryWorkflow returns the kind for documents of the recovery system: phases with
// artifacts and durations, and a replan history.
func recoveryWorkflow() *kind {
	return &kind{
		name: "workflow",
		is: func(m *object) bool {
			return hasAny(m, "workflow_id", "phase_metadata") && hasAny(m, "completed_phases", "phase_metadata", "replan_history", "replan_count") &&
				!hasAny(m, "phase_status", "workflow_type", "workflow_data", "user_checkpoints")
		},
		rules: recoveryRules,
		key:   func(m *object) string { return text(m, "workflow_id") },
		at:    lastPhaseTime,
		apply: func(m *object, r *checkpoint.Record) {
			before := pastOf(r, text(m, "workflow_id"))
			setWorkflow(r, "id", text(m, "workflow_id"), "description", text(m, "workflow_description", "description"),
				"status", statusOf(text(m, "status")), "plan_path", text(m, "plan_path"),
				"started_at", text(m, "created_at", "started_at"), "updated_at", text(m, "updated_at"), "last_error", text(m, "last_error"))
			setPhases(r, phaseName(get(m, "current_phase")), phasesOf(get(m, "completed_phases")), text(m, "total_phases"))
			before.readPhases(r, sub(m, "phase_metadata"))
			before.readReplans(r, m)
		},
		update: updateRecovery,
		fresh:  freshRecovery,
		file:   func(m *object) string { return text(m, "workflow_id") + ".json" },
		indent: defaultIndent,
	}
}

// lastPhaseTime returns the document's time, or the end of its newest phase if the
// document has no time.
func lastPhaseTime(m *object) any {
	if at := text(m, "updated_at", "timestamp"); at != "" {
		return at
	}
	var newest any
	for _, v := range sub(m, "phase_metadata").All() {
		phase, _ := v.(*object)
		at := get(phase, "timestamp")
		t, err := checkpoint.ParseTime(at)
		was, old := checkpoint.ParseTime(newest)
		if err == nil && (old != nil || t.After(was)) {
			newest = at
		}
	}
	return newest
}

func updateRecovery(r *checkpoint.Record, m *object) {
	before := phaseSet(get(m, "completed_phases"))
	phaseDetails(r, m)
	replanDetails(r, m)
	updatePhases(r, m, "current_phase", "completed_phases", "total_phases")
	if has(m, "status") {
		updateStatus(r, m, "status")
	}
	if has(m, "last_error") || text(r.Doc(), "workflow.last_error") != "" {
		updateError(r, m, "last_error")
	}
	for _, p := range phasesOf(get(m, "completed_phases")) {
		if !before[p] && !has(sub(m, "phase_metadata"), p) {
			mustSub(m, "phase_metadata").Set(p, newObject("status", completed, "artifacts", []any{}, "timestamp", seconds(r.CreatedAt())))
		}
	}
}

func freshRecovery(r *checkpoint.Record) (*object, error) {
	p := r.Progress()
	return newObject(
		"workflow_id", cmp.Or(text(r.Doc(), "workflow.id"), string(r.Issue())),
		"plan_path", get(r.Doc(), "workflow.plan_path"),
		"current_phase", phaseNumber(p, p.Current), "completed_phases", phaseNumbers(p),
		"phase_metadata", newObject(), "replan_history", []any{}, "replan_count", newObject(),
		"artifact_paths", newObject(), "context_metadata", newObject(),
	), nil
}

func recoveryRules(c *checker) {
	c.required("workflow_id")
	for _, key := range []string{"current_phase", "completed_phases"} {
		if v, _ := c.doc.Get(key); v == nil {
			c.fail(key, "required", "missing")
		}
	}
	c.text("workflow_id", "plan_path", "status", "last_error")
	c.phase("current_phase")
	c.number("total_phases", 0, anyNumber, true)
	c.phases("completed_phases")
	c.time("created_at", "updated_at", "started_at")
	c.local("plan_path")
	checkPhaseMetadata(c)
	c.replans()
	checkArtifactPaths(c)
	c.mapping("context_metadata")
	checkNextPhase(c)
	c.named(text(c.doc, "workflow_id"))
}

// checkNextPhase warns if the current phase is already completed. Work then resumes at the
// first unfinished phase.
func checkNextPhase(c *checker) {
	current := phaseName(get(c.doc, "current_phase"))
	if phaseSet(get(c.doc, "completed_phases"))[current] {
		c.warn("current_phase", "consistency", "phase %.40s is completed already", current)
	}
}

// checkPhaseMetadata checks the results of each phase.
func checkPhaseMetadata(c *checker) {
	meta, ok := c.mapping("phase_metadata")
	if !ok {
		return
	}
	for phase, v := range meta.All() {
		at := checkpoint.PathOf("phase_metadata", phase)
		m, isMap := v.(*object)
		if !isMap {
			c.fail(at, "kind", "want a mapping, got %s", shown(v))
			continue
		}
		c.status(at+".status", completed, failed, skipped, inProgress, pending)
		c.texts(at + ".artifacts")
		c.number(at+".duration_minutes", 0, anyNumber, false)
		c.time(at + ".timestamp")
		if n := len(strings.Fields(text(m, "summary"))); n > 200 {
			c.fail(at+".summary", "range", "%d words, want at most 200", n)
		} else if n > 50 {
			c.warn(at+".summary", "range", "%d words, want at most 50", n)
		}
	}
}

// checkArtifactPaths checks the mapping of names to paths.
func checkArtifactPaths(c *checker) {
	paths, ok := c.mapping("artifact_paths")
	if !ok {
		return
	}
	for name := range paths.All() {
		at := checkpoint.PathOf("artifact_paths", name)
		c.text(at)
		c.local(at)
	}
}
