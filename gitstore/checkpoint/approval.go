package checkpoint

import (
	"slices"
	"time"
)

// Awaiting returns the phases whose approval is pending: those in
// progress.awaiting_approval, a text or a list, and the current phase where it
// is among progress.approval_required and nobody approved it. Each is there
// once, in the order of the texts.
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

// Await records that a phase or a task waits for an approval, unless it has it.
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
		phases = append(phases, text(m, "phase"))
	}
	return phases
}

// Approve records that a person approved a phase, so that nothing waits for it
// any more.
func (r *Record) Approve(phase string, at time.Time) {
	m := r.mustSection("progress")
	left := slices.DeleteFunc(textOrList(m, "awaiting_approval"), func(s string) bool { return s == phase })
	setList(m, "awaiting_approval", left)
	v, _ := m.Get("approved")
	l, _ := v.([]any)
	m.Set("approved", append(slices.Clone(l), &Map{entries: []entry{
		{"phase", phase},
		{"approved_at", FormatTime(at)},
	}}))
}

// textOrList reads a text, or a list of texts.
func textOrList(m *Map, key string) []string {
	if s := text(m, key); s != "" {
		return []string{s}
	}
	return texts(m, key)
}
