package crunch_test

import (
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/crunch"
	"git-checkpoint/gitstore/layout/internal/testing/layouttest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Keys reserved for git-checkpoint are ordinary keys in a document.
func TestCrunchKeepsReservedKeys(t *testing.T) {
	for _, name := range []string{"mine", "\n  name: crunch"} {
		data := "checkpoint_id: CP-a-1-0000\ncreated_at: \"2026-01-01\"\nissue_number: 7\n" +
			"snapshot:\n  detached: true\nclock: 5\ntrigger: odd_one\nlayout: " + name + "\n"
		f, err := layout.Read(crunch.Name, "", []byte(data))
		require.NoError(t, err)
		require.NoError(t, f.Err(false))
		r := f.Apply(nil)
		r.SetSnapshot(checkpoint.Snapshot{Head: "ours"})
		r.SetClock(9)
		out, err := layout.Find(crunch.Name).Of(layouttest.Stored(t, r))
		require.NoError(t, err)
		assert.Equal(t, data, string(out[0].Data))
	}
}
