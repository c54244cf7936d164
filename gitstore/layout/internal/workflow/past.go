package workflow

import (
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/values"
)

// A Past holds the phase details of a record before a document of the same workflow is
// applied. Documents have fewer details than records: for example, no digests.
type Past struct{ Phases, Progress *checkpoint.Map }

// PastOf returns the past of the document's workflow, empty if the record belongs to
// another workflow.
func PastOf(r *checkpoint.Record, id string) Past {
	if was := values.Text(r.Doc(), "workflow.id"); id == "" || was != id && was != "" {
		return Past{values.NewMap(), values.NewMap()}
	}
	p := values.Sub(r.Doc(), "progress").Clone()
	return Past{values.Sub(p, "phases"), p}
}

// Phase returns the section of a phase in the record, initialized from the past if
// missing.
func (p Past) Phase(r *checkpoint.Record, name string) *checkpoint.Map {
	all := r.Doc().MustSub("progress").MustSub("phases")
	if !values.Has(all, name) {
		known, _ := p.Phases.Get(name)
		if m, ok := known.(*checkpoint.Map); ok && m != nil {
			all.Set(name, m.Clone())
		}
	}
	return all.MustSub(name)
}
