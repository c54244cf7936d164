package layout

import (
	"slices"

	"git-checkpoint/gitstore/checkpoint"
)

// A past is what a record knew of the phases of a workflow before a document of
// that workflow was applied to it. A document says less of a phase than the
// record does: no digests, for one.
type past struct{ phases, progress *object }

// pastOf is the past of the workflow that the document is of, an empty one
// where the record was about another.
func pastOf(r *checkpoint.Record, id string) past {
	if was := text(r.Doc(), "workflow.id"); id == "" || was != id && was != "" {
		return past{newObject(), newObject()}
	}
	p := sub(r.Doc(), "progress").Clone()
	return past{sub(p, "phases"), p}
}

// phase returns what is known of a phase, made in the record where there is
// nothing yet.
func (p past) phase(r *checkpoint.Record, name string) *object {
	all := mustSub(mustSub(r.Doc(), "progress"), "phases")
	if !has(all, name) {
		known, _ := p.phases.Get(name)
		if m, ok := known.(*object); ok && m != nil {
			all.Set(name, m.Clone())
		}
	}
	return mustSub(all, name)
}

// readPhases takes over what a document says of each phase, and what is known
// of others.
func (p past) readPhases(r *checkpoint.Record, meta *object) {
	for name := range p.phases.All() {
		p.phase(r, name)
	}
	for key, v := range meta.All() {
		said, _ := v.(*object)
		if said.Len() == 0 {
			continue
		}
		m := p.phase(r, phaseName(key))
		putText(m, "status", statusOf(text(said, "status")))
		for _, field := range []string{"duration_minutes", "timestamp", "summary", "error"} {
			if v := get(said, field); v != nil {
				put(m, field, v)
			}
		}
		readArtifacts(m, texts(get(said, "artifacts")))
	}
}

// readArtifacts takes over the paths of artifacts; what is known of one stays.
func readArtifacts(m *object, paths []string) {
	if len(paths) == 0 {
		return
	}
	known, _ := get(m, "artifacts").([]any)
	var list []any
	for _, path := range paths {
		i := slices.IndexFunc(known, func(v any) bool {
			a, _ := v.(*object)
			return text(a, "path") == path
		})
		if i >= 0 {
			list = append(list, known[i])
			continue
		}
		list = append(list, newObject("path", path))
	}
	m.Set("artifacts", list)
}

// readReplans takes over the history of replans: the document's, and those that
// are known beside it.
func (p past) readReplans(r *checkpoint.Record, m *object) {
	var list []any
	said, _ := get(m, "replan_history").([]any)
	known, _ := get(p.progress, "replan_history").([]any)
	for _, e := range said {
		if replan, ok := e.(*object); ok && replan != nil {
			list = append(list, replan.Clone())
		}
	}
	for _, e := range known {
		if !slices.ContainsFunc(list, func(s any) bool { return sameReplan(s, e) }) {
			list = append(list, e)
		}
	}
	if len(list) > 0 {
		mustSub(r.Doc(), "progress").Set("replan_history", list)
	}
}

// readApprovals takes over what a person approved, and what waits for that.
func (p past) readApprovals(r *checkpoint.Record, said []any) {
	known, _ := get(p.progress, "approved").([]any)
	list := slices.Clone(known)
	for _, e := range said {
		approval, _ := e.(*object)
		if phase := text(approval, "phase"); phase != "" && !slices.Contains(phasesOf(list), phase) {
			list = append(list, newObject("phase", phase, "approved_at", text(approval, "approved_at")))
		}
	}
	progress := mustSub(r.Doc(), "progress")
	if len(list) > 0 {
		progress.Set("approved", list)
	}
	for _, key := range []string{"approval_required", "awaiting_approval"} {
		if v, ok := p.progress.Get(key); ok {
			progress.Set(key, v)
		}
	}
}

// readCompleted takes over when each phase was completed, and its output.
func (p past) readCompleted(r *checkpoint.Record, said []any) {
	for name := range p.phases.All() {
		p.phase(r, name)
	}
	for _, e := range said {
		done, _ := e.(*object)
		name := phaseName(get(done, "phase"))
		if name == "" {
			continue
		}
		m := p.phase(r, name)
		putText(m, "status", completed)
		putText(m, "timestamp", text(done, "completed_at"))
		if output := text(done, "output"); output != "" && text(m, "output") != output {
			m.Set("output", output)
			m.Delete("output_digest")
		}
	}
}
