package claude

import (
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout/internal/values"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Migration from each older version gives the same document.
func TestMigration(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "claude-1.0.json"))
	require.NoError(t, err)
	first, err := checkpoint.DecodeDocument(data, checkpoint.DefaultLimits)
	require.NoError(t, err)
	newest := migrate(first)
	assert.Equal(t, "2.1", values.Text(newest, "schema_version"))
	assert.Equal(t, "implement", values.Text(newest, "state_machine.current_state"))
	assert.Equal(t, []string{"research", "plan"}, values.Texts(values.Get(newest, "state_machine.completed_states")))
	assert.Equal(t, "test-all", values.Text(newest, "state_machine.workflow_config.command"))
	steps := []func(*checkpoint.Map){to11, to12, to13, to20, to21}
	for n := range len(steps) + 1 {
		m, err := checkpoint.DecodeDocument(data, checkpoint.DefaultLimits)
		require.NoError(t, err)
		m.Set("schema_version", []string{"1.0", "1.1", "1.2", "1.3", "2.1", "2.1"}[n]) // also 2.1 after an interrupted migration from 2.0
		for _, step := range steps[:n] {
			step(m)
		}
		want, err := newest.MarshalJSON()
		require.NoError(t, err)
		got, err := migrate(m).MarshalJSON()
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), "%d steps", n)
	}
	assert.Equal(t, []string{"initialize", "research", "plan", "implement", "test", "debug", "document", "complete", "", ""},
		[]string{stateOf("0"), stateOf("1"), stateOf("2"), stateOf("3"), stateOf("4"), stateOf("5"), stateOf("6"), stateOf("7"), stateOf("8"), stateOf("x")})
}
