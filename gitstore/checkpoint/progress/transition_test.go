package progress

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A workflow permits only its configured transitions.
func TestTransitionsAllow(t *testing.T) {
	var ways Transitions
	for _, s := range []string{"plan test", "test -> sprint", "sprint review", "* failed", "failed *"} {
		w, err := ParseTransition(s)
		require.NoError(t, err)
		ways = append(ways, w)
	}
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"plan", "test", true},
		{"plan", "plan", true},
		{"plan", "review", false},
		{"test", "plan", false},
		{"review", "failed", true},
		{"failed", "sprint", true},
		{"", "review", true},
		{"elsewhere", "review", true},
	} {
		assert.Equal(t, c.want, ways.allow(c.from, c.to), "%s to %s", c.from, c.to)
	}
	assert.True(t, Transitions(nil).allow("plan", "review"))
	for _, s := range []string{"", "plan", "a b c", "->"} {
		_, err := ParseTransition(s)
		require.Error(t, err, s)
	}
	r := record(t, "progress: {names: [plan, test, review]}\nworkflow_state: {current_phase: plan}")
	s := Step{Phase: "review", At: noon, Ways: ways}
	err := s.Start(r, 3)
	require.EqualError(t, err, "the work does not go from phase plan to phase review, but to test, failed")
	var refused *RefusedError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, []Way{{"phase", "start", "test"}, {"phase", "start", "failed"}, {"phase", "start", "review", "--force"}}, refused.Instead)
	require.Error(t, s.Done(r, Report{}))
	s.Force = true
	require.NoError(t, s.Start(r, 3))
}

// Alike compares prefixes of project names.
func TestAlike(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"auth", "auth_system", true},
		{"Auth  System Two", "auth_system", true},
		{"auth", "auth", false},
		{"auth system", "auth_system", false},
		{"auth", "oauth", false},
		{"", "auth", false},
		{"auth", "", false},
	} {
		assert.Equal(t, c.want, Alike(c.a, c.b), "%s and %s", c.a, c.b)
	}
}
