package main

import (
	"errors"
	"fmt"
	"strings"
)

// A result is a measured row.
type result struct {
	Row     string  `json:"row"`
	Size    string  `json:"size"`
	What    string  `json:"what"`
	Against string  `json:"against"`
	Unit    string  `json:"unit"` // ms, objects
	Ours    summary `json:"ours"`
	Theirs  summary `json:"theirs,omitzero"`
	Ratio   float64 `json:"ratio,omitempty"`  // ratio of medians
	Target  float64 `json:"target,omitempty"` // limit of the ratio or count
	Verdict string  `json:"verdict"`

	exact bool // an exact count without noise
}

// counted returns the result of a row that counts objects, with an upper limit.
func counted(n, most int) result {
	return result{
		Unit: "objects", Ours: summarize([]float64{float64(n)}),
		Target: float64(most), exact: true,
	}
}

// finish sets ratio and verdict.
func (r *result) finish(target float64) {
	if r.exact {
		r.Verdict = judge(r.Ours.Median, r.Target)
		return
	}
	r.Target, r.Ratio = target, ratio(r.Ours.Median, r.Theirs.Median)
	r.Verdict = judge(r.Ratio, target)
}

// line returns a short text of the result.
func (r *result) line() string {
	if r.exact {
		return fmt.Sprintf("%.0f %s of at most %.0f: %s", r.Ours.Median, r.Unit, r.Target, r.Verdict)
	}
	return fmt.Sprintf("%s %s against %s: ratio %s, %s",
		number(r.Ours.Median), r.Unit, number(r.Theirs.Median), number(r.Ratio), r.Verdict)
}

// failure returns an error that lists missed targets. Missed ratios fail only if strict
// is set.
func failure(results []result, strict bool) error {
	var missed []string
	for _, r := range results {
		if r.Verdict == verdictMiss && (strict || r.exact) {
			missed = append(missed, r.Row+" at "+r.Size)
		}
	}
	if len(missed) == 0 {
		return nil
	}
	return errors.New("missed: " + strings.Join(missed, ", "))
}
