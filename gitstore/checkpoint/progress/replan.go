package progress

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// A Replan is one entry of the history of replans.
type Replan struct {
	Phase, Reason, At string
	Forced            bool // in spite of the limit
}

// Replans returns the history of replans, oldest first.
func Replans(r *checkpoint.Record) []Replan {
	v, _ := r.Doc().Lookup("progress.replan_history")
	list, _ := v.([]any)
	var out []Replan
	for _, v := range list {
		if m, ok := v.(*checkpoint.Map); ok && m != nil {
			forced, _ := m.Get("forced")
			out = append(out, Replan{strings.TrimPrefix(m.Text("phase"), "phase_"), m.Text("reason"), m.Text("timestamp"), forced == true})
		}
	}
	return out
}

// AllReplans returns the replans that any checkpoint of the newest workflow tells
// of, oldest first: work that goes on from an older checkpoint has not been
// planned less often. What one record has twice was done twice. The records are
// the newest first.
func AllReplans(records ...*checkpoint.Record) []Replan {
	var all []Replan
	workflow := ""
	for _, r := range records {
		begun := r.Doc().Sub("workflow").Text("started_at")
		if workflow != "" && begun != workflow && (begun != "" || Over(r)) {
			break // the workflow before
		}
		workflow = cmp.Or(workflow, begun)
		all = append(all, beyond(all, Replans(r))...)
	}
	slices.SortStableFunc(all, func(a, b Replan) int { return strings.Compare(a.At, b.At) })
	return all
}

// beyond is what there is in more and not in known, as often as it is missing.
func beyond(known, more []Replan) []Replan {
	left := map[Replan]int{}
	for _, replan := range known {
		left[replan]++
	}
	return slices.DeleteFunc(slices.Clone(more), func(replan Replan) bool {
		left[replan]--
		return left[replan] >= 0
	})
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
	forgotten := beyond(Replans(r), s.Known)
	for _, replan := range append(Replans(r), forgotten...) {
		if replan.Phase == s.Phase {
			history = append(history, replan.At+": "+cmp.Or(replan.Reason, "no reason given"))
		}
	}
	over := len(history) >= limit
	if over && !s.Force {
		return &PlanLimitError{
			Issue: r.Issue(), History: history, Instead: ways(s.Phase),
			Reason: fmt.Sprintf("phase %s was planned anew %d times, the limit is %d", s.Phase, len(history), limit),
		}
	}
	p := r.Doc().MustSub("progress")
	v, _ := p.Get("replan_history")
	list, _ := v.([]any)
	list = slices.Clone(list)
	for _, replan := range append(forgotten, Replan{s.Phase, reason, checkpoint.FormatTime(s.At), over}) {
		list = append(list, replan.section())
	}
	p.Set("replan_history", list)
	return nil
}

func (p Replan) section() *checkpoint.Map {
	m := checkpoint.NewMap()
	m.Set("phase", p.Phase)
	putText(m, "reason", p.Reason)
	m.Set("timestamp", p.At)
	if p.Forced {
		m.Set("forced", true)
	}
	return m
}
