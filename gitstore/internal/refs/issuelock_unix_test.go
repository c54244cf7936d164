//go:build unix

package refs

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// If a stopped process holds an issue's lock, Lock still locks other issues.
func TestLockSkipsIssueHeldElsewhere(t *testing.T) {
	w := newWorld(t)
	held := w.dir.Lock(t.Context(), []string{"42"})
	require.True(t, held.HeldAll())
	soon, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	some := w.dir.Lock(soon, []string{"41", "42"})
	require.NotNil(t, some)
	assert.Len(t, some.Locks(), 1)
	assert.False(t, some.HeldAll())
	some.Begin("", []Move{{Name: "refs/checkpoints/42"}, {Name: "refs/checkpoints/41"}})
	note := w.Read(".git/git-checkpoint/lock/41")
	assert.Contains(t, note, "refs/checkpoints/41")
	assert.NotContains(t, note, "refs/checkpoints/42", "that is for the process that holds its lock")
	some.Unlock()
	held.Unlock()
	both := w.dir.Lock(t.Context(), []string{"41", "42"})
	assert.True(t, both.HeldAll())
	both.Unlock()
}

// All methods accept a nil IssueLock, which locks no issue.
func TestNilIssueLockIsUsable(t *testing.T) {
	var none *IssueLock
	assert.False(t, none.HeldAll())
	assert.Empty(t, none.Locks())
	none.Begin("", []Move{{Name: "refs/checkpoints/42"}})
	none.Done()
	none.Unlock()
}
