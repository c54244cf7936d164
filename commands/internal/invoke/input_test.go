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
