package story

import (
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func record(t *testing.T, text string) *checkpoint.Record {
	t.Helper()
	m, err := checkpoint.DecodeDocument([]byte(text), checkpoint.DefaultLimits)
	require.NoError(t, err)
	return checkpoint.FromDoc(m)
}

// Each counter pauses the story above its limit.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		counter Counter
		stage   string
		move    func(r *checkpoint.Record)
		want    string
	}{
		{QualityCycles, "{story: S, number: 3, verdict: FAIL}", Judge, "story S is paused: the quality gate failed 3 times, the limit is 2"},
		{ValidationRetries, "{story: S, number: 1, verdict: NO-GO}", Judge, "story S is paused: the validation said NO-GO 2 times, the limit is 1"},
		{CrashCount, "{story: S, number: 2}", func(r *checkpoint.Record) { Crash(r, "S") }, "story S is paused: its worker crashed 2 times, the limit is 1"},
	} {
		r := record(t, "stage: "+c.stage)
		for n := range c.counter.Limit {
			c.move(r)
			assert.Equal(t, n+1, c.counter.Count(r, "S"))
			require.NoError(t, Err(r, "S"))
		}
		c.move(r)
		require.EqualError(t, Err(r, "S"), c.want)
		Lift(r, "S")
		require.NoError(t, Err(r, "S"))
		c.move(r)
		require.Error(t, Err(r, "S"), "its counters stay")
	}
}

func TestPausedByHand(t *testing.T) {
	r := record(t, "layout: {name: pipeline}\npipeline: {story_state: {A: PAUSED, B: STAGE_1}}")
	require.EqualError(t, Err(r, "A"), "story A is paused")
	require.NoError(t, Err(r, "B"))
	assert.True(t, Has(r, "B"))
	assert.False(t, Has(r, "C"))
	assert.False(t, Is(r))
	Lift(r, "A")
	Lift(r, "B")
	assert.Equal(t, []string{"B"}, r.Doc().Sub("pipeline").Sub("story_state").Keys())
}

// Without stories, crashes count per task.
func TestCrashCountsPerTask(t *testing.T) {
	r := record(t, "tasks: {T1: {status: running}}")
	Crash(r, "T1")
	require.NoError(t, Err(r, "T1"))
	Crash(r, "T1")
	require.EqualError(t, Err(r, "T1"), "task T1 is paused: its worker crashed 2 times, the limit is 1")
}
