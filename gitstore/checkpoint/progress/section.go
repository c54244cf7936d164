package progress

import (
	"math"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// phaseSection is what the record has of a phase, made where there is nothing.
func phaseSection(r *checkpoint.Record, phase string) *checkpoint.Map {
	return r.Doc().MustSub("progress").MustSub("phases").MustSub(phase)
}

func intOf(m *checkpoint.Map, key string) int {
	n, _ := checkpoint.Number(m.Text(key)).Int()
	return int(n)
}

func timeOf(m *checkpoint.Map, key string) time.Time {
	v, _ := m.Get(key)
	t, err := checkpoint.ParseTime(v)
	if err != nil {
		return time.Time{}
	}
	return t
}

// setText sets a text, or removes the key for an empty one.
func setText(m *checkpoint.Map, key, s string) {
	if s == "" {
		m.Delete(key)
		return
	}
	m.Set(key, s)
}

// putText sets a text that says something; an empty one leaves what is there.
func putText(m *checkpoint.Map, key, s string) {
	if s != "" {
		m.Set(key, s)
	}
}

// without returns a list without one of its elements.
func without(list []string, s string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(t string) bool { return t == s })
}

// Settle puts the phases of a record in order that were written by two sides:
// what one of them completed is not skipped, and nobody is to go on with it.
func Settle(r *checkpoint.Record) {
	p := r.Progress()
	if len(p.Completed)+len(p.Skipped)+len(p.Names) > MaxPhases {
		return
	}
	p.Completed = inOrder(p, slices.Clone(p.Completed))
	p.Skipped = slices.DeleteFunc(p.Skipped, func(s string) bool { return slices.Contains(p.Completed, s) })
	p.Remaining = slices.DeleteFunc(p.Remaining, p.Over)
	if p.Over(p.Current) {
		follow(r, p, p.Current)
		return
	}
	store(r, p)
}

// touch notes the time of a transition, where there is a workflow, and that
// the workflow goes on.
func touch(r *checkpoint.Record, at time.Time) {
	v, _ := r.Doc().Get("workflow")
	if w, ok := v.(*checkpoint.Map); ok && w != nil {
		w.Set("status", InProgress)
		w.Set("updated_at", checkpoint.FormatTime(at))
	}
}

// enter makes a phase the one that the checkpoint speaks of.
func enter(r *checkpoint.Record, phase string, at time.Time) {
	if phase != r.Phase() {
		r.EnterPhase(phase)
		r.SetPhaseStartedAt(at)
	}
}

// minutes is a duration as it is recorded, to the hundredth; a clock that went
// back has taken none.
func minutes(d time.Duration) any {
	m := math.Round(max(d.Minutes(), 0)*100) / 100
	if m == math.Trunc(m) {
		return int(m)
	}
	return m
}
