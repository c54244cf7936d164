package freshness

import (
	"slices"
	"strconv"

	"git-checkpoint/gitstore/checkpoint"
)

func checkProgress(in input) []Reason {
	p := in.record.Progress()
	return append(duplicates(p), in.outOfOrder(p)...)
}

func duplicates(p checkpoint.Progress) []Reason {
	if len(set(p.Completed)) == len(p.Completed) {
		return nil
	}
	r := reason("progress", ProceedWithWarning, "Completed phases are recorded twice")
	r.Detail = listed("completed", p.Completed)
	return []Reason{r}
}

// awaiting returns phases that wait for an approval, from the record and from
// Facts.Approvals, without phases approved just now.
func (in input) awaiting() []string {
	return minus(set(append(in.record.Awaiting(), in.facts.Approvals...)), set(in.facts.Approved))
}

func checkApproval(in input) []Reason {
	var out []Reason
	for _, phase := range in.awaiting() {
		out = append(out, reason("approval", PromptUser, "Approval of phase %s is pending", printable(phase)))
	}
	return out
}

func (in input) progressTexts(key string) []string {
	v, _ := in.record.Doc().Lookup("progress." + key)
	l, ok := v.([]any)
	if !ok {
		l = []any{v}
	}
	var out []string
	for _, v := range l {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case checkpoint.Number:
			out = append(out, string(v))
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// outOfOrder reports a completed or current phase whose predecessors are incomplete.
// Skipped phases count as completed. If the order is unknown or lacks a phase, it returns
// no finding.
func (in input) outOfOrder(p checkpoint.Progress) []Reason {
	place := in.order(p)
	var done []int
	for _, name := range append(slices.Clone(p.Completed), in.progressTexts("skipped")...) {
		n, ok := place(name)
		if !ok {
			return nil
		}
		done = append(done, n)
	}
	slices.Sort(done)
	done = slices.Compact(done)
	if len(done) == 0 {
		return nil
	}
	if in.begunAgain(place, done) {
		return nil
	}
	gap := done[len(done)-1] != len(done)-1
	now := p.Current
	if now == "" {
		now = in.record.Phase()
	}
	current, ok := place(now)
	if !gap && (!ok || current >= len(done)-1 && current <= len(done)) {
		return nil
	}
	r := reason("progress", PromptUser, "Phases are out of order")
	r.Detail = append(listed("completed", p.Completed), "current: "+phaseName(now))
	return []Reason{r}
}

// begunAgain reports whether every missing phase before the last completed phase was
// started a second time, for example after a new plan.
func (in input) begunAgain(place func(string) (int, bool), done []int) bool {
	last := done[len(done)-1]
	missing := last + 1 - len(done)
	v, _ := in.record.Doc().Lookup("progress.phases")
	phases, _ := v.(*checkpoint.Map)
	again := 0
	for phase, v := range phases.All() {
		m, _ := v.(*checkpoint.Map)
		attempt, _ := m.Get("attempt")
		text, _ := attempt.(checkpoint.Number)
		count, _ := text.Int()
		if n, ok := place(phase); ok && n < last && count > 1 && !slices.Contains(done, n) {
			again++
		}
	}
	return missing > 0 && again == missing
}

// order returns a function that maps a phase to its zero-based position: in the record's
// names, in the configured phases, or by phase number.
func (in input) order(p checkpoint.Progress) func(string) (int, bool) {
	names := p.Names
	if len(names) == 0 {
		names = in.rules.Phases
	}
	if len(names) > 0 {
		return func(s string) (int, bool) {
			n := slices.Index(names, s)
			return n, n >= 0
		}
	}
	return func(s string) (int, bool) {
		n, err := strconv.Atoi(s)
		return n - 1, err == nil && n > 0
	}
}
