package recovery

import (
	"cmp"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// detailKeys are the values of a phase that documents and records share.
var detailKeys = []string{"duration_minutes", "timestamp", "summary", "error"}

// phaseDetails updates the phase metadata of a recovery document from the record. Other
// metadata is preserved.
func phaseDetails(r *checkpoint.Record, m *checkpoint.Map) {
	for phase, known := range values.Sub(r.Doc(), "progress.phases").Subs() {
		if known.Len() == 0 {
			continue
		}
		all := m.MustSub("phase_metadata")
		for key := range all.All() {
			if workflow.PhaseName(key) == phase {
				phase = key
			}
		}
		fresh := !values.Has(all, phase)
		meta := all.MustSub(phase)
		if s := values.Text(known, "status"); workflow.StatusOf(values.Text(meta, "status")) != workflow.StatusOf(s) {
			values.PutText(meta, "status", s)
		}
		paths, said := []any{}, values.Texts(values.Get(meta, "artifacts"))
		for _, a := range known.List("artifacts") {
			artifact, _ := a.(*checkpoint.Map)
			if p := cmp.Or(values.Text(artifact, "path"), values.AsText(a)); p != "" {
				paths = append(paths, p)
			}
		}
		same := slices.EqualFunc(said, paths, func(a string, b any) bool { return a == values.AsText(b) })
		if len(paths) > 0 && !same || fresh {
			values.Put(meta, "artifacts", paths)
		}
		values.Copy(meta, known, detailKeys...)
	}
}

// replanDetails adds missing replans to the document and updates the counts.
func replanDetails(r *checkpoint.Record, m *checkpoint.Map) {
	said := m.List("replan_history")
	all := mergeReplans(said, values.Sub(r.Doc(), "progress").List("replan_history"))
	if len(all) == len(said) {
		return
	}
	for i, e := range all[len(said):] {
		if entry, ok := e.(*checkpoint.Map); ok && entry != nil {
			entry = entry.Clone()
			entry.Set("phase", values.Spelled(values.Text(entry, "phase"))) // in a document, a number is no text
			all[len(said)+i] = entry
		}
	}
	m.Set("replan_history", all)
	counts, perPhase := m.MustSub("replan_count"), map[string]int{}
	for _, e := range all {
		replan, _ := e.(*checkpoint.Map)
		phase := workflow.PhaseName(values.Get(replan, "phase"))
		perPhase[phase]++
		counts.Set(phase, perPhase[phase])
	}
}

// replanID identifies a replan: two entries of a history with equal ids describe the same replan.
func replanID(v any) string {
	replan, _ := v.(*checkpoint.Map)
	at, err := checkpoint.ParseTime(values.Get(replan, "timestamp"))
	return fmt.Sprintf("%q %q %s %v", workflow.PhaseName(values.Get(replan, "phase")), values.Text(replan, "reason"), checkpoint.FormatTime(at), err == nil)
}

// mergeReplans returns a history with the entries of another history that it lacks.
func mergeReplans(history, other []any) []any {
	seen := map[string]bool{}
	for _, e := range history {
		seen[replanID(e)] = true
	}
	for _, e := range other {
		if id := replanID(e); !seen[id] {
			seen[id] = true
			history = append(history, e)
		}
	}
	return history
}

// readPhases merges the phase metadata of a document into the record, and restores other
// known phases.
func readPhases(p workflow.Past, r *checkpoint.Record, meta *checkpoint.Map) {
	for name := range p.Phases.All() {
		p.Phase(r, name)
	}
	for key, said := range meta.Subs() {
		if said.Len() == 0 {
			continue
		}
		m := p.Phase(r, workflow.PhaseName(key))
		values.PutText(m, "status", workflow.StatusOf(values.Text(said, "status")))
		values.Copy(m, said, detailKeys...)
		readArtifacts(m, values.Texts(values.Get(said, "artifacts")))
	}
}

// readArtifacts sets the artifact paths of a phase. Known artifacts keep their details.
func readArtifacts(m *checkpoint.Map, paths []string) {
	if len(paths) == 0 {
		return
	}
	known := map[string]any{}
	for _, artifact := range slices.Backward(m.Maps("artifacts")) {
		known[artifact.Text("path")] = artifact // the first entry of a path counts
	}
	artifacts := make([]any, len(paths))
	for i, path := range paths {
		artifacts[i] = known[path]
		if artifacts[i] == nil {
			artifacts[i] = values.NewMap("path", path)
		}
	}
	m.Set("artifacts", artifacts)
}

// readReplans merges the replan histories of document and past. Phases are texts, as
// elsewhere in the record.
func readReplans(p workflow.Past, r *checkpoint.Record, m *checkpoint.Map) {
	var list []any
	for _, said := range m.Maps("replan_history") {
		replan := said.Clone()
		replan.Set("phase", workflow.PhaseName(values.Get(replan, "phase")))
		list = append(list, replan)
	}
	if list = mergeReplans(list, p.Progress.List("replan_history")); len(list) > 0 {
		r.Doc().MustSub("progress").Set("replan_history", list)
	}
}
