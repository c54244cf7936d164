package retention

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDefault checks the documented default policy.
func TestDefault(t *testing.T) {
	want := Policy{
		"phase_transition":  {Keep: -1},
		"conflict_start":    {Keep: -1},
		"conflict_resolved": {Keep: -1},
		"manual":            {Keep: -1},
		"batch_complete":    {Keep: 3, PerPhase: true},
		"agent_complete":    {Keep: 1, PerPhase: true},
		"batch_start":       {Keep: 1, PerPhase: true},
		"before_agent":      {Keep: 1, PerPhase: true},
		"user_interrupt":    {Keep: 1},
		"session_end":       {Keep: 1},
		"interval":          {Keep: 1},
		"turn":              {Keep: 20},
		"task_update":       {Keep: 1, PerPhase: true},
	}
	assert.Equal(t, want, Default())
	Default()["manual"] = Rule{}
	assert.Equal(t, want, Default(), "Default returns a copy")
}

func TestWith(t *testing.T) {
	p := Default()
	q := p.With("batch_complete", 7).With("xyzzy", 2)
	assert.Equal(t, Rule{Keep: 7, PerPhase: true}, q["batch_complete"], "per phase stays")
	assert.Equal(t, Rule{Keep: 2}, q["xyzzy"])
	assert.Equal(t, Default(), p, "the receiver is not changed")
	assert.Equal(t, Policy{"agent_complete": {Keep: 4, PerPhase: true}}, Policy(nil).With("agent_complete", 4))
}

func TestParseKeepRefuses(t *testing.T) {
	for _, in := range []string{
		"", "manual", "=3", "manual=", "manual=-2", "manual=+1", "manual=01", "manual=1.5",
		"manual=all", "manual= 1", " manual=1", "manual =1", "Manual Save=1", "manual=1=2",
		"manual=99999999999999999999",
	} {
		_, _, err := ParseKeep(in)
		assert.ErrorContains(t, err, "retention rule", in)
	}
}

func TestParseKeeps(t *testing.T) {
	p, err := ParseKeeps(Default(), []string{"manual=5", "manual=2", "interval=0"})
	require.NoError(t, err)
	assert.Equal(t, Rule{Keep: 2}, p["manual"])
	assert.Equal(t, Rule{Keep: 0}, p["interval"])
	_, err = ParseKeeps(Default(), []string{"manual=5", "nonsense"})
	assert.EqualError(t, err, `retention rule "nonsense": want TRIGGER=N`)
}

func FuzzParseKeep(f *testing.F) {
	for _, s := range []string{"manual=3", "batch_complete=-1", "=", "a=0", "x=1=2", "manual=\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		trigger, n, err := ParseKeep(s)
		if err != nil {
			return
		}
		require.GreaterOrEqual(t, n, All)
		require.Equal(t, s, string(trigger)+"="+strconv.Itoa(n))
	})
}

func TestWarnings(t *testing.T) {
	items := parseItems(t, "mn xx xx tu")
	assert.Empty(t, Warnings(Default(), parseItems(t, "mn ui bc tu")))
	assert.Equal(t, []string{"trigger frobnicated is unknown: all its checkpoints are kept (2)"}, Warnings(Default(), items))
	assert.Empty(t, Warnings(Default().With("frobnicated", 1), items), "a rule of its own needs no warning")
	assert.Equal(t, []string{
		"trigger batch_complet is unknown, and no checkpoint has it: its rule does nothing",
		"trigger frobnicated is unknown: all its checkpoints are kept (2)",
	}, Warnings(Default().With("batch_complet", 1), items))
}
