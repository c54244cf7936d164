package progress

import (
	"math"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// phaseSection returns the section of a phase and creates it if necessary.
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

// setText sets a text, or deletes the key if the text is empty.
func setText(m *checkpoint.Map, key, s string) {
	if s == "" {
		m.Delete(key)
		return
	}
	m.Set(key, s)
}

// putText sets a text, but leaves the value unchanged if the text is empty.
func putText(m *checkpoint.Map, key, s string) {
	if s != "" {
		m.Set(key, s)
	}
}

func without(list []string, s string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(t string) bool { return t == s })
}

// Settle repairs the phase lists after a merge of two records. A phase completed on one
// side is removed from the skipped and remaining phases.
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

// touch updates the time of the workflow, if the record has a workflow, and sets its
// status to in_progress.
func touch(r *checkpoint.Record, at time.Time) {
	v, _ := r.Doc().Get("workflow")
	if w, ok := v.(*checkpoint.Map); ok && w != nil {
		w.Set("status", InProgress)
		w.Set("updated_at", checkpoint.FormatTime(at))
	}
}

// enter sets the phase of the checkpoint.
func enter(r *checkpoint.Record, phase string, at time.Time) {
	if phase != r.Phase() {
		r.EnterPhase(phase)
		r.SetPhaseStartedAt(at)
	}
}

// minutes returns a duration in minutes, rounded to hundredths. A negative duration,
// after a clock change, becomes 0.
func minutes(d time.Duration) any {
	m := math.Round(max(d.Minutes(), 0)*100) / 100
	if m == math.Trunc(m) {
		return int(m)
	}
	return m
}
