package workflow

import (
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// If a save loses a race, the step is applied to another record with a new current phase.
// The step still moves the phase from the first resolution.
func TestPhaseIsResolvedOnce(t *testing.T) {
	at := func(completed ...string) *checkpoint.Record {
		r := checkpoint.New()
		r.SetProgress(checkpoint.Progress{Total: 3, Completed: completed})
		return r
	}
	p := &phaseStep{verb: "done", options: &phaseOptions{}, now: time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)}
	require.NoError(t, p.move(at()))
	assert.Equal(t, "1", p.phase)
	require.EqualError(t, p.move(at("1")), "phase 1 is completed already")
	last := at("2")
	require.NoError(t, p.move(last))
	assert.Equal(t, []string{"1", "2"}, last.Progress().Completed)
}
