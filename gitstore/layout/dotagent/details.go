package dotagent

import (
	"cmp"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// mergeApprovals returns a list with the approvals of another list for further phases. at is the time of
// approvals without a time.
func mergeApprovals(list []any, other []*checkpoint.Map, at string) []any {
	list, approved := slices.Clone(list), workflow.PhaseSet(list)
	for _, approval := range other {
		if phase := values.Text(approval, "phase"); phase != "" && !approved[phase] {
			approved[workflow.PhaseName(phase)] = true
			list = append(list, values.NewMap("phase", phase, "approved_at", cmp.Or(values.Text(approval, "approved_at"), at)))
		}
	}
	return list
}

// readCompleted merges completion times and outputs of phases.
func readCompleted(p workflow.Past, r *checkpoint.Record, said []*checkpoint.Map) {
	for name := range p.Phases.All() {
		p.Phase(r, name)
	}
	for _, done := range said {
		name := workflow.PhaseName(values.Get(done, "phase"))
		if name == "" {
			continue
		}
		m := p.Phase(r, name)
		values.PutText(m, "status", workflow.Completed)
		values.PutText(m, "timestamp", values.Text(done, "completed_at"))
		if output := values.Text(done, "output"); output != "" && values.Text(m, "output") != output {
			m.Set("output", output)
			m.Delete("output_digest")
		}
	}
}

// forget removes the outputs and approvals of the previous document that the document
// lacks. Those that the record got from a command stay.
func forget(r *checkpoint.Record, previous, m *checkpoint.Map) {
	now := map[string]string{}
	for _, entry := range m.Maps("completed_phases") {
		now[workflow.PhaseOf(entry)] = values.Text(entry, "output")
	}
	recorded := values.Sub(r.Doc(), "progress.phases")
	for _, entry := range previous.Maps("completed_phases") {
		name := workflow.PhaseOf(entry)
		phase := recorded.Sub(name)
		if phase == nil {
			continue
		}
		output, listed := now[name]
		if said := values.Text(entry, "output"); said != output && said == values.Text(phase, "output") {
			phase.Delete("output")
			phase.Delete("output_digest")
		}
		if !listed {
			phase.Delete("status")
			phase.Delete("timestamp")
		}
		if phase.Len() == 0 {
			recorded.Delete(name)
		}
	}
	approved, stated := workflow.PhaseSet(values.Get(previous, "user_checkpoints")), workflow.PhaseSet(values.Get(m, "user_checkpoints"))
	if known, ok := values.Get(r.Doc(), "progress.approved").([]any); ok {
		kept := []any{}
		for _, e := range known {
			if phase := workflow.PhaseOf(e); !approved[phase] || stated[phase] {
				kept = append(kept, e)
			}
		}
		values.Sub(r.Doc(), "progress").Set("approved", kept)
	}
}
