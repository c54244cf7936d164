package progress

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// A Replan is one entry of the history of replans.
type Replan struct{ Phase, Reason, At string }

// Replans returns the history of replans, oldest first.
func Replans(r *checkpoint.Record) []Replan {
	v, _ := r.Doc().Lookup("progress.replan_history")
	list, _ := v.([]any)
	var out []Replan
	for _, v := range list {
		if m, ok := v.(*checkpoint.Map); ok && m != nil {
			out = append(out, Replan{strings.TrimPrefix(m.Text("phase"), "phase_"), m.Text("reason"), m.Text("timestamp")})
		}
	}
	return out
}

// ReplanCounts returns how often each phase was planned anew.
func ReplanCounts(r *checkpoint.Record) map[string]int {
	counts := map[string]int{}
	for _, replan := range Replans(r) {
		counts[replan.Phase]++
	}
	return counts
}

// Replan records that a phase is planned anew, as often as the limit allows,
// and leaves it to be done, whatever became of it before.
func (s Step) Replan(r *checkpoint.Record, reason string, limit int) error {
	if err := s.noteReplan(r, reason, limit); err != nil {
		return err
	}
	s.reopen(r)
	m := phaseSection(r, s.Phase)
	for _, key := range []string{"failures", "error"} {
		m.Delete(key)
	}
	touch(r, s.At)
	return nil
}

// Replanned completes a phase that was planned anew on the way, which counts
// as a replan.
func (s Step) Replanned(r *checkpoint.Record, report Report, reason string, limit int) error {
	if slices.Contains(r.Progress().Completed, s.Phase) {
		return s.Done(r, report) // a replan that was counted
	}
	if err := s.noteReplan(r, reason, limit); err != nil {
		return err
	}
	return s.Done(r, report)
}

// noteReplan puts a replan into the history, unless there are too many.
func (s Step) noteReplan(r *checkpoint.Record, reason string, limit int) error {
	var history []string
	for _, replan := range Replans(r) {
		if replan.Phase == s.Phase {
			history = append(history, replan.At+": "+cmp.Or(replan.Reason, "no reason given"))
		}
	}
	over := len(history) >= limit
	if over && !s.Force {
		return &LimitError{
			Issue: r.Issue(), History: history, Instead: ways(s.Phase),
			Reason: fmt.Sprintf("phase %s was planned anew %d times, the limit is %d", s.Phase, len(history), limit),
		}
	}
	m := checkpoint.NewMap()
	m.Set("phase", s.Phase)
	putText(m, "reason", reason)
	m.Set("timestamp", checkpoint.FormatTime(s.At))
	if over {
		m.Set("forced", true)
	}
	p := r.Doc().MustSub("progress")
	v, _ := p.Get("replan_history")
	list, _ := v.([]any)
	p.Set("replan_history", append(list[:len(list):len(list)], m))
	return nil
}
