package main

import "slices"

// A summary describes the runs of one side.
type summary struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Runs   int     `json:"runs"`
}

// summarize returns the summary of values. It returns a zero summary if values is empty.
func summarize(values []float64) summary {
	if len(values) == 0 {
		return summary{}
	}
	sorted := slices.Sorted(slices.Values(values))
	return summary{Median: median(sorted), Min: sorted[0], Max: sorted[len(sorted)-1], Runs: len(sorted)}
}

// median returns the median of sorted values.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// A figure is a row's limit at one size. Zero means no limit.
type figure struct {
	Target float64 `json:"target,omitempty"` // desired value
	Must   float64 `json:"must,omitempty"`   // required value; if zero, Target is required
}

// Verdicts.
const (
	verdictTarget = "target" // target met
	verdictMust   = "must"   // required value met
	verdictMiss   = "MISSED" // required value missed
	verdictNone   = "-"      // no limit at this size
)

// judge compares a value with a figure.
func (f figure) judge(value float64) string {
	switch {
	case f == (figure{}):
		return verdictNone
	case f.Target > 0 && value <= f.Target:
		return verdictTarget
	case f.Must > 0 && value <= f.Must:
		return verdictMust
	}
	return verdictMiss
}

// ratio returns a/b, or zero if b is zero.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
