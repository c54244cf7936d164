package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSummarize(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   []float64
		want summary
	}{
		{"nothing", nil, summary{}},
		{"one", []float64{3}, summary{3, 3, 3, 1}},
		{"odd", []float64{9, 1, 2}, summary{2, 1, 9, 3}},
		{"even", []float64{4, 1, 2, 100}, summary{3, 1, 100, 4}},
		{"equal", []float64{5, 5, 5, 5}, summary{5, 5, 5, 4}},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, summarize(tt.in)) })
	}
}

func TestSummarizeLeavesItsInput(t *testing.T) {
	in := []float64{3, 1, 2}
	summarize(in)
	assert.Equal(t, []float64{3, 1, 2}, in)
}

func TestJudge(t *testing.T) {
	assert.Equal(t, verdictNone, judge(99, 0))
	assert.Equal(t, verdictTarget, judge(0.6, 0.6))
	assert.Equal(t, verdictMiss, judge(0.61, 0.6))
}

func TestRatio(t *testing.T) {
	assert.InDelta(t, 0.5, ratio(1, 2), 1e-9)
	assert.Zero(t, ratio(1, 0))
}

func TestParseSizes(t *testing.T) {
	got, err := parseSizes("100k, 1k")
	assert.NoError(t, err)
	assert.Equal(t, []scale{scales[0], scales[3]}, got)
	for _, bad := range []string{"", "2k", "1k,,10k", "1k;10k"} {
		_, err := parseSizes(bad)
		assert.Error(t, err, bad)
	}
}

func TestSent(t *testing.T) {
	n, err := sent("Writing objects: 100% (11/11), 1.02 KiB | 1.02 MiB/s, done.\nTotal 11 (delta 3), reused 0 (delta 0), pack-reused 0\n")
	assert.NoError(t, err)
	assert.Equal(t, 11, n)
	_, err = sent("Everything up-to-date\n")
	assert.Error(t, err)
}
