package progress

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
)

// Attach records the report of a phase without a change of status.
func (s Step) Attach(r *checkpoint.Record, report Report) {
	if !report.isEmpty() {
		report.record(phaseSection(r, s.Phase))
	}
}

// An Of is an artifact with its phase.
type Of struct {
	Phase string `record:"phase"`
	Artifact
}

// Artifacts returns the artifacts and outputs of all phases, in record order.
func Artifacts(r *checkpoint.Record) []Of {
	var out []Of
	for phase, m := range r.Doc().Sub("progress").Sub("phases").Subs() {
		if place := m.Text("output"); place != "" {
			out = append(out, Of{phase, Artifact{Path: checkpoint.Unquoted(place), Digest: m.Text("output_digest")}})
		}
		for _, v := range m.List("artifacts") {
			if a := artifactOf(v); a.Path != "" {
				out = append(out, Of{phase, a})
			}
		}
	}
	return out
}

// Minutes returns the total known duration of all completed phases, the work that a
// resume preserves.
func Minutes(r *checkpoint.Record) float64 {
	total := 0.0
	for _, phase := range r.Progress().Completed {
		m := r.Doc().Sub("progress").Sub("phases").Sub(phase)
		if n, err := strconv.ParseFloat(m.Text("duration_minutes"), 64); err == nil && n > 0 && !math.IsInf(n, 1) {
			total += n
		}
	}
	return math.Round(total*100) / 100
}

// A Replan is an entry of progress.replan_history.
type Replan struct {
	Phase  string `record:"phase,keep"`
	Reason string `record:"reason"`
	At     string `record:"timestamp,keep"`
	Forced bool   `record:"forced"` // over the limit, with Force
}

// Replans returns the replan history, oldest first.
func Replans(r *checkpoint.Record) []Replan {
	var history struct {
		Replans []Replan `record:"replan_history"`
	}
	checkpoint.Load(r.Doc().Sub("progress"), &history)
	for i := range history.Replans {
		history.Replans[i].Phase = strings.TrimPrefix(history.Replans[i].Phase, "phase_")
	}
	return history.Replans
}

// AllReplans returns the replans of all checkpoints of the newest workflow, oldest first.
// So a resume from an older checkpoint does not reset the count. Duplicates within one
// record count separately. The records must be sorted newest first.
func AllReplans(records ...*checkpoint.Record) []Replan {
	var all []Replan
	workflow := ""
	for _, r := range records {
		begun := r.Doc().Sub("workflow").Text("started_at")
		if workflow != "" && begun != workflow && (begun != "" || Over(r)) {
			break // previous workflow
		}
		workflow = cmp.Or(workflow, begun)
		all = append(all, beyond(all, Replans(r))...)
	}
	slices.SortStableFunc(all, func(a, b Replan) int { return strings.Compare(a.At, b.At) })
	return all
}

// ReplanCounts returns the number of replans of each phase.
func ReplanCounts(r *checkpoint.Record) map[string]int {
	counts := map[string]int{}
	for _, replan := range Replans(r) {
		counts[replan.Phase]++
	}
	return counts
}

// Replan records a replan of a phase and resets the phase to pending. It fails with
// *RefusedError if the limit is reached.
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

// Replanned completes a phase and records a replan during its work.
func (s Step) Replanned(r *checkpoint.Record, report Report, reason string, limit int) error {
	if slices.Contains(r.Progress().Completed, s.Phase) {
		return s.Done(r, report) // replan already counted
	}
	if err := s.noteReplan(r, reason, limit); err != nil {
		return err
	}
	return s.Done(r, report)
}

// record merges a report into the section of a phase. New values replace old values, and
// artifacts are keyed by path.
func (p Report) record(m *checkpoint.Map) {
	putText(m, "summary", p.Summary)
	if p.Output.Path != "" {
		m.Set("output", checkpoint.QuotePath(p.Output.Path))
		m.SetText("output_digest", p.Output.Digest)
	}
	if len(p.Artifacts) == 0 {
		return
	}
	list := slices.Clone(m.List("artifacts"))
	for _, a := range p.Artifacts {
		list = append(slices.DeleteFunc(list, func(v any) bool { return artifactOf(v).Path == a.Path }), section(a))
	}
	m.Set("artifacts", list)
}

// Summary returns the summary of a phase, or "".
func Summary(r *checkpoint.Record, phase string) string {
	return r.Doc().Sub("progress").Sub("phases").Sub(phase).Text("summary")
}

// artifactOf parses an artifact. Other systems write only the path.
func artifactOf(v any) (a Artifact) {
	if m, ok := v.(*checkpoint.Map); ok {
		checkpoint.Load(m, &a)
		return a
	}
	path, _ := v.(string)
	return Artifact{Path: checkpoint.Unquoted(path)}
}

func section(of any) *checkpoint.Map {
	m := checkpoint.NewMap()
	checkpoint.Store(m, of)
	return m
}

// beyond returns the multiset difference of more and known.
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

// noteReplan appends a replan to the history. It fails with *RefusedError if the limit
// is reached.
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
		return &RefusedError{
			Code: failure.Limit, Issue: r.Issue(), History: history, Instead: ways(s.Phase),
			Reason: fmt.Sprintf("phase %s was replanned %d times, the limit is %d", s.Phase, len(history), limit),
		}
	}
	p := r.Doc().MustSub("progress")
	list := slices.Clone(p.List("replan_history"))
	for _, replan := range append(forgotten, Replan{s.Phase, reason, checkpoint.FormatTime(s.At), over}) {
		list = append(list, section(replan))
	}
	p.Set("replan_history", list)
	return nil
}
