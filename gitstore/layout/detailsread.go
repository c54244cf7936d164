package layout

import (
	"slices"

	"git-checkpoint/gitstore/checkpoint"
)

// A past holds the phase details of a record before a document of the same workflow is
// applied. Documents have fewer details than records: for example, no digests.
type past struct{ phases, progress *object }

// pastOf returns the past of the document's workflow, empty if the record belongs to
// another workflow.
func pastOf(r *checkpoint.Record, id string) past {
	if was := text(r.Doc(), "workflow.id"); id == "" || was != id && was != "" {
		return past{newObject(), newObject()}
	}
	p := sub(r.Doc(), "progress").Clone()
	return past{sub(p, "phases"), p}
}

// phase returns the section of a phase in the record, initialized from the past if
// missing.
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

// readPhases merges the phase metadata of a document into the record, and restores other
// known phases.
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

// readArtifacts sets the artifact paths of a phase. Known artifacts keep their details.
func readArtifacts(m *object, paths []string) {
	if len(paths) == 0 {
		return
	}
	list, _ := get(m, "artifacts").([]any)
	known := map[string]any{}
	for _, e := range slices.Backward(list) {
		artifact, _ := e.(*object)
		known[text(artifact, "path")] = e // the first entry of a path counts
	}
	artifacts := make([]any, len(paths))
	for i, path := range paths {
		artifacts[i] = known[path]
		if artifacts[i] == nil {
			artifacts[i] = newObject("path", path)
		}
	}
	m.Set("artifacts", artifacts)
}

// readReplans merges the replan histories of document and past.
func (p past) readReplans(r *checkpoint.Record, m *object) {
	var list []any
	said, _ := get(m, "replan_history").([]any)
	known, _ := get(p.progress, "replan_history").([]any)
	for _, e := range said {
		if replan, ok := e.(*object); ok && replan != nil {
			list = append(list, replan.Clone())
		}
	}
	if list = mergeReplans(list, known); len(list) > 0 {
		mustSub(r.Doc(), "progress").Set("replan_history", list)
	}
}

// readApprovals merges approvals of document and past, and restores pending approvals.
func (p past) readApprovals(r *checkpoint.Record, said []any) {
	known, _ := get(p.progress, "approved").([]any)
	list, approved := slices.Clone(known), phaseSet(known)
	for _, e := range said {
		approval, _ := e.(*object)
		if phase := text(approval, "phase"); phase != "" && !approved[phase] {
			approved[phaseName(phase)] = true
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

// readCompleted merges completion times and outputs of phases.
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
