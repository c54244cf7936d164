//go:build unix

package refs

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A turn that cannot be had of all issues, as one of them is held by a process
// that was stopped, keeps nobody from the others' refs.
func TestTurnOfSome(t *testing.T) {
	w := newWorld(t)
	held := w.dir.Take(t.Context(), []string{"42"})
	require.True(t, held.Whole())
	soon, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	some := w.dir.Take(soon, []string{"41", "42"})
	require.NotNil(t, some)
	assert.Len(t, some.Locks(), 1)
	assert.False(t, some.Whole())
	some.Begin("", []Move{{Name: "refs/checkpoints/42"}, {Name: "refs/checkpoints/41"}})
	note := w.Read(".git/git-checkpoint/lock/41")
	assert.Contains(t, note, "refs/checkpoints/41")
	assert.NotContains(t, note, "refs/checkpoints/42", "that is for who has its turn")
	some.End()
	held.End()
	both := w.dir.Take(t.Context(), []string{"41", "42"})
	assert.True(t, both.Whole())
	both.End()
}

// A turn of none is one of nobody's.
func TestNoTurn(t *testing.T) {
	var none *Turn
	assert.False(t, none.Whole())
	assert.Empty(t, none.Locks())
	none.Begin("", []Move{{Name: "refs/checkpoints/42"}})
	none.Done()
	none.End()
}
