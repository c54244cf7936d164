package freshness

import (
	"slices"
	"strings"
)

// labelsDiffer reports whether both sets of labels are known and differ.
func (in input) labelsDiffer() bool {
	return in.comparable("labels") && !slices.Equal(set(in.issue.Labels), set(in.facts.Issue.Labels))
}

func checkLabels(in input) []Reason {
	if !in.labelsDiffer() {
		return nil
	}
	r := reason("labels", ProceedWithWarning, "Issue labels changed since checkpoint")
	before, now := set(in.issue.Labels), set(in.facts.Issue.Labels)
	r.Detail = append(r.Detail, listed("added", minus(now, before))...)
	r.Detail = append(r.Detail, listed("removed", minus(before, now))...)
	r.Detail = append(r.Detail, in.phaseDetail()...)
	return []Reason{r}
}

// followLabels returns the new state label and phase if labels changed. It returns no
// phase if the number of state labels is not one.
func (in input) followLabels() (label, phase string) {
	if !in.labelsDiffer() {
		return "", ""
	}
	before, now := in.rules.stateLabels(in.issue.Labels), in.rules.stateLabels(in.facts.Issue.Labels)
	if len(now) != 1 || slices.Equal(before, now) {
		return "", ""
	}
	return now[0], in.rules.phaseOf(now[0], in.record.Progress().Names)
}

// phaseDetail describes the phase change, or the reason that the phase stays.
func (in input) phaseDetail() []string {
	now := in.rules.stateLabels(in.facts.Issue.Labels)
	label, phase := in.followLabels()
	switch {
	case len(now) > 1:
		return []string{"phase: stays, more than one state label: " + join(now)}
	case label == "":
		return nil
	case phase == "":
		return []string{"phase: stays, " + printable(label) + " stands for none"}
	case phase == in.record.Phase():
		return []string{"phase: " + printable(phase) + ", as recorded"}
	}
	return []string{"phase: " + phaseName(in.record.Phase()) + " -> " + printable(phase)}
}

func phaseName(s string) string {
	if s == "" {
		return "none"
	}
	return printable(s)
}

// set returns sorted unique strings.
func set(l []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(l)))
}

// minus returns the elements of set a missing from set b.
func minus(a, b []string) []string {
	var out []string
	for _, s := range a {
		if _, ok := slices.BinarySearch(b, s); !ok {
			out = append(out, s)
		}
	}
	return out
}

// listed returns one line of detail, or nil for an empty list.
func listed(what string, l []string) []string {
	if len(l) == 0 {
		return nil
	}
	return []string{what + ": " + join(l)}
}

func join(l []string) string {
	out := make([]string, len(l))
	for k := range l {
		out[k] = printable(l[k])
	}
	return strings.Join(out, ", ")
}
