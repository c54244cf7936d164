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
	want, err := newest.MarshalJSON()
	require.NoError(t, err)
	for n := first.Len(); n <= newest.Len(); n++ { // a migration can be interrupted after each key
		m := first.Clone()
		m.Set("schema_version", "2.1")
		for key, v := range newest.Clone().All() {
			if m.Len() < n {
				m.Set(key, v)
			}
		}
		if machine := m.Sub("state_machine"); n%2 == 0 && machine != nil {
			machine.Delete("classification")
		}
		got, err := migrate(m).MarshalJSON()
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), "%d keys", n)
	}
	assert.Equal(t, []string{"initialize", "research", "plan", "implement", "test", "debug", "document", "complete", "", ""},
		[]string{stateOf("0"), stateOf("1"), stateOf("2"), stateOf("3"), stateOf("4"), stateOf("5"), stateOf("6"), stateOf("7"), stateOf("8"), stateOf("x")})
}
