package checkpoint

import (
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint/document"
)

// Awaiting returns the phases with a pending approval, sorted and without duplicates.
// These are the phases in progress.awaiting_approval, which is a text or a list. The
// current phase is included if it is listed in progress.approval_required and is not
// approved yet.
func (r *Record) Awaiting() []string {
	m := r.section("progress")
	phases := textOrList(m, "awaiting_approval")
	now := r.Progress().Current
	if now == "" {
		now = r.Phase()
	}
	if slices.Contains(textOrList(m, "approval_required"), now) && !slices.Contains(r.Approved(), now) {
		phases = append(phases, now)
	}
	slices.Sort(phases)
	return slices.Compact(phases)
}

// Await records that a phase or task awaits approval, unless it is already approved.
func (r *Record) Await(phase string) {
	m := r.mustSection("progress")
	waiting := textOrList(m, "awaiting_approval")
	if !slices.Contains(waiting, phase) && !slices.Contains(r.Approved(), phase) {
		m.Set("awaiting_approval", append(waiting, phase))
	}
}

// Approved returns the phases in progress.approved.
func (r *Record) Approved() []string {
	var phases []string
	for _, m := range mappings(r.section("progress"), "approved") {
		phases = append(phases, document.TextOf(m, "phase"))
	}
	return phases
}

// Approve records the approval of a phase and removes its pending approval.
func (r *Record) Approve(phase string, at time.Time) {
	m := r.mustSection("progress")
	left := slices.DeleteFunc(textOrList(m, "awaiting_approval"), func(s string) bool { return s == phase })
	setList(m, "awaiting_approval", left)
	v, _ := m.Get("approved")
	l, _ := v.([]any)
	m.Set("approved", append(slices.Clone(l), &Map{Entries: []document.Entry{
		{Key: "phase", Value: phase},
		{Key: "approved_at", Value: FormatTime(at)},
	}}))
}

// textOrList returns a single text as a list, or a list of texts.
func textOrList(m *Map, key string) []string {
	if s := document.TextOf(m, key); s != "" {
		return []string{s}
	}
	return document.TextsOf(m, key)
}
