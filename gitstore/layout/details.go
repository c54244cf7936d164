package layout

import (
	"cmp"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
)

// phaseDetails updates the phase metadata of a recovery document from the record. Other
// metadata is preserved.
func phaseDetails(r *checkpoint.Record, m *object) {
	for phase, v := range sub(r.Doc(), "progress.phases").All() {
		known, _ := v.(*object)
		if known.Len() == 0 {
			continue
		}
		all := mustSub(m, "phase_metadata")
		for key := range all.All() {
			if phaseName(key) == phase {
				phase = key
			}
		}
		fresh := !has(all, phase)
		meta := mustSub(all, phase)
		if s := text(known, "status"); statusOf(text(meta, "status")) != statusOf(s) {
			putText(meta, "status", s)
		}
		if paths := artifactPaths(known); len(paths) > 0 && !sameArtifacts(meta, paths) || fresh {
			put(meta, "artifacts", paths)
		}
		for _, key := range []string{"duration_minutes", "timestamp", "summary", "error"} {
			if v := get(known, key); v != nil {
				put(meta, key, v)
			}
		}
	}
}

// sameArtifacts reports whether a document has exactly these paths, as a list or as a
// single text.
func sameArtifacts(meta *object, paths []any) bool {
	said := texts(get(meta, "artifacts"))
	return slices.EqualFunc(said, paths, func(a string, b any) bool { return a == textOf(b) })
}

// artifactPaths returns the artifact paths of a phase.
func artifactPaths(phase *object) []any {
	paths := []any{}
	list, _ := get(phase, "artifacts").([]any)
	for _, a := range list {
		artifact, _ := a.(*object)
		if p := cmp.Or(text(artifact, "path"), textOf(a)); p != "" {
			paths = append(paths, p)
		}
	}
	return paths
}

// replanDetails adds missing replans to the document and updates the counts.
func replanDetails(r *checkpoint.Record, m *object) {
	known, _ := get(r.Doc(), "progress.replan_history").([]any)
	said, _ := get(m, "replan_history").([]any)
	was := len(said)
	for _, e := range known {
		if !slices.ContainsFunc(said, func(s any) bool { return sameReplan(s, e) }) {
			said = append(said, e)
		}
	}
	if len(said) == was {
		return
	}
	m.Set("replan_history", said)
	counts := mustSub(m, "replan_count")
	for _, e := range said {
		replan, _ := e.(*object)
		n := 0
		for _, o := range said {
			if other, _ := o.(*object); phaseName(get(other, "phase")) == phaseName(get(replan, "phase")) {
				n++
			}
		}
		counts.Set(phaseName(get(replan, "phase")), n)
	}
}

// sameReplan reports whether two history entries describe the same replan.
func sameReplan(a, b any) bool {
	x, _ := a.(*object)
	y, _ := b.(*object)
	at, err := checkpoint.ParseTime(get(x, "timestamp"))
	other, otherErr := checkpoint.ParseTime(get(y, "timestamp"))
	return phaseName(get(x, "phase")) == phaseName(get(y, "phase")) && text(x, "reason") == text(y, "reason") &&
		(err != nil) == (otherErr != nil) && at.Equal(other)
}

// approvalDetails adds new approvals to a dotagent document.
func approvalDetails(r *checkpoint.Record, m *object) {
	said, _ := get(m, "user_checkpoints").([]any)
	was := len(said)
	known, _ := get(r.Doc(), "progress.approved").([]any)
	for _, e := range known {
		approval, _ := e.(*object)
		if phase := text(approval, "phase"); phase != "" && !slices.Contains(phasesOf(said), phase) {
			said = append(said, newObject("phase", phase, "approved_at", cmp.Or(text(approval, "approved_at"), seconds(r.CreatedAt()))))
		}
	}
	if len(said) > was {
		m.Set("user_checkpoints", said)
	}
}

// completedPhase returns a dotagent entry for a newly completed phase, with its output if
// present.
func completedPhase(r *checkpoint.Record, name string) *object {
	phase := sub(r.Doc(), "progress.phases."+checkpoint.PathOf("", name))
	e := newObject("phase", name, "completed_at", cmp.Or(text(phase, "timestamp"), seconds(r.CreatedAt())))
	putText(e, "output", text(phase, "output"))
	return e
}
