package dotagent

import (
	"cmp"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/values"
	"git-checkpoint/gitstore/layout/internal/workflow"
)

// readApprovals merges approvals of document and past, and restores pending approvals.
func readApprovals(p workflow.Past, r *checkpoint.Record, said []any) {
	known, _ := values.Get(p.Progress, "approved").([]any)
	list, approved := slices.Clone(known), workflow.PhaseSet(known)
	for _, e := range said {
		approval, _ := e.(*checkpoint.Map)
		if phase := values.Text(approval, "phase"); phase != "" && !approved[phase] {
			approved[workflow.PhaseName(phase)] = true
			list = append(list, values.NewMap("phase", phase, "approved_at", values.Text(approval, "approved_at")))
		}
	}
	progress := r.Doc().MustSub("progress")
	if len(list) > 0 {
		progress.Set("approved", list)
	}
	for _, key := range []string{"approval_required", "awaiting_approval"} {
		if v, ok := p.Progress.Get(key); ok {
			progress.Set(key, v)
		}
	}
}

// readCompleted merges completion times and outputs of phases.
func readCompleted(p workflow.Past, r *checkpoint.Record, said []any) {
	for name := range p.Phases.All() {
		p.Phase(r, name)
	}
	for _, e := range said {
		done, _ := e.(*checkpoint.Map)
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

// approvalDetails adds new approvals to a dotagent document.
func approvalDetails(r *checkpoint.Record, m *checkpoint.Map) {
	said, _ := values.Get(m, "user_checkpoints").([]any)
	was := len(said)
	approved := workflow.PhaseSet(said)
	known, _ := values.Get(r.Doc(), "progress.approved").([]any)
	for _, e := range known {
		approval, _ := e.(*checkpoint.Map)
		if phase := values.Text(approval, "phase"); phase != "" && !approved[phase] {
			approved[workflow.PhaseName(phase)] = true
			said = append(said, values.NewMap("phase", phase, "approved_at", cmp.Or(values.Text(approval, "approved_at"), workflow.FormatTime(r.CreatedAt()))))
		}
	}
	if len(said) > was {
		m.Set("user_checkpoints", said)
	}
}

// completedPhase returns a dotagent entry for a newly completed phase, with its output if
// present.
func completedPhase(r *checkpoint.Record, name string) *checkpoint.Map {
	phase := values.Sub(r.Doc(), "progress.phases."+checkpoint.PathOf("", name))
	e := values.NewMap("phase", name, "completed_at", cmp.Or(values.Text(phase, "timestamp"), workflow.FormatTime(r.CreatedAt())))
	values.PutText(e, "output", values.Text(phase, "output"))
	return e
}
