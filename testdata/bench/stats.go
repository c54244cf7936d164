package main

import "slices"

// A summary describes the runs of one side.
type summary struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Runs   int     `json:"runs"`
}

// summarize describes values; none give the zero summary.
func summarize(values []float64) summary {
	if len(values) == 0 {
		return summary{}
	}
	sorted := slices.Sorted(slices.Values(values))
	return summary{Median: median(sorted), Min: sorted[0], Max: sorted[len(sorted)-1], Runs: len(sorted)}
}

// median is the middle of sorted values, or between the two that are.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// A figure is what a row promises at one size. Zero stands for no promise.
type figure struct {
	Target float64 `json:"target,omitempty"` // what to aim for
	Must   float64 `json:"must,omitempty"`   // what has to hold; the target where there is no must
}

// Verdicts.
const (
	verdictTarget = "target" // as good as aimed for
	verdictMust   = "must"   // good enough
	verdictMiss   = "MISSED" // not good enough
	verdictNone   = "-"      // nothing is promised here
)

// judge holds a value against a figure.
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

// ratio is a/b, zero where there is no b.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
