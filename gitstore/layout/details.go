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
	said, _ := get(m, "replan_history").([]any)
	known, _ := get(r.Doc(), "progress.replan_history").([]any)
	all := mergeReplans(said, known)
	if len(all) == len(said) {
		return
	}
	m.Set("replan_history", all)
	perPhase := map[string]int{}
	for _, e := range all {
		perPhase[replanIDOf(e).phase]++
	}
	counts := mustSub(m, "replan_count")
	for _, e := range all {
		phase := replanIDOf(e).phase
		counts.Set(phase, perPhase[phase])
	}
}

// A replanID identifies a replan: two entries of a history with equal ids describe the
// same replan.
type replanID struct {
	phase, reason string
	seconds       int64
	nanoseconds   int
	timed         bool
}

func replanIDOf(v any) replanID {
	replan, _ := v.(*object)
	at, err := checkpoint.ParseTime(get(replan, "timestamp"))
	return replanID{phaseName(get(replan, "phase")), text(replan, "reason"), at.Unix(), at.Nanosecond(), err == nil}
}

// mergeReplans returns a history with the entries of another history that it lacks.
func mergeReplans(history, other []any) []any {
	seen := map[replanID]bool{}
	for _, e := range history {
		seen[replanIDOf(e)] = true
	}
	for _, e := range other {
		if id := replanIDOf(e); !seen[id] {
			seen[id] = true
			history = append(history, e)
		}
	}
	return history
}

// approvalDetails adds new approvals to a dotagent document.
func approvalDetails(r *checkpoint.Record, m *object) {
	said, _ := get(m, "user_checkpoints").([]any)
	was := len(said)
	approved := phaseSet(said)
	known, _ := get(r.Doc(), "progress.approved").([]any)
	for _, e := range known {
		approval, _ := e.(*object)
		if phase := text(approval, "phase"); phase != "" && !approved[phase] {
			approved[phaseName(phase)] = true
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
