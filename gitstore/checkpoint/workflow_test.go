package checkpoint

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// decoded returns a record from YAML.
func decoded(t *testing.T, text string) *Record {
	t.Helper()
	r, err := Decode([]byte("version: \"1.0\"\n" + text))
	require.NoError(t, err)
	return r
}

func TestEnterPhaseCountsAttempts(t *testing.T) {
	r := New()
	for _, step := range []struct {
		phase string
		want  int
	}{{"ready", 1}, {"implementing", 1}, {"validation", 1}, {"implementing", 2}, {"validation", 2}, {"docs", 1}, {"implementing", 3}} {
		r.EnterPhase(step.phase)
		assert.Equal(t, step.phase, r.Phase())
		assert.Equal(t, step.want, r.PhaseAttempt(), step.phase)
	}

	r = decoded(t, "workflow_state: {current_phase: docs}\nprogress: {completed: [build]}")
	r.EnterPhase("build")
	assert.Equal(t, 2, r.PhaseAttempt(), "completed once, before anybody counted")

	r = decoded(t, "workflow_state: {current_phase: build, phase_attempt: 3, phase_attempts: {plan: -7}}")
	r.EnterPhase("plan")
	assert.Equal(t, 1, r.PhaseAttempt(), "a count below nothing is none")
	r.EnterPhase("build")
	assert.Equal(t, 4, r.PhaseAttempt())
}

func TestProgressNumbers(t *testing.T) {
	p := decoded(t, "progress: {completed: [1.0, 2, 4b], skipped: [3.00], current: 5.0, total: 6}").Progress()
	assert.Equal(t, []string{"1", "2", "4b"}, p.Completed)
	assert.Equal(t, []string{"3"}, p.Skipped)
	assert.Equal(t, "5", p.Current)
	assert.Equal(t, []string{"4", "5", "6"}, p.Remaining)

	named := decoded(t, "progress: {names: [\"1.0\", \"1.1\"], completed: [\"1.0\"]}").Progress()
	assert.Equal(t, []string{"1.0"}, named.Completed, "a release may be called so")
	assert.Equal(t, []string{"1.1"}, named.Remaining)
}
