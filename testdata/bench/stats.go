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

// Verdicts.
const (
	verdictTarget = "target" // target met
	verdictMiss   = "MISSED"
	verdictNone   = "-" // no target at this size
)

// judge compares a value with a target.
func judge(value, target float64) string {
	switch {
	case target == 0:
		return verdictNone
	case value <= target:
		return verdictTarget
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
