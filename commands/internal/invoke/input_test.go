package invoke

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAwaitAbandonsALateFunction(t *testing.T) {
	text, late, err := Await(t.Context(), 0, func() (string, error) { return "pushed", nil })
	assert.Equal(t, "pushed", text)
	assert.False(t, late)
	require.NoError(t, err)
	_, late, err = Await(t.Context(), 0, func() (string, error) { panic("broken") })
	require.EqualError(t, err, "broken")
	assert.False(t, late)

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	over := make(chan struct{})
	defer close(over)
	_, late, err = Await(ctx, time.Millisecond, func() (string, error) {
		select {
		case <-over:
		case <-time.After(2 * time.Minute):
			t.Error("Await waits for the function")
		}
		return "", nil
	})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.True(t, late)
}

func TestNamesCheckpoint(t *testing.T) {
	for in, want := range map[string]bool{
		"CP-ready-2026": true, "latest": true, "latest~2": true, "1f0c9a2b": true, "dead": true,
		"42": false, "2026": false, "PROJ-42": false, "abc": false, "feature": false,
	} {
		assert.Equal(t, want, NamesCheckpoint(in), in)
	}
}

// A path outside of the root or beside it is not below the root.
func TestBelowRefusesPathsOutsideTheRoot(t *testing.T) {
	root := t.TempDir()
	assert.Equal(t, "a/b", Below(root, root+"/a/b"))
	assert.Equal(t, "..", Below(root, "/etc/passwd"))
	assert.Equal(t, "..", Below(root, root+"x/a"))
}
