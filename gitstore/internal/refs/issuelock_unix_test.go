//go:build unix

package refs

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// If a stopped process holds an issue's lock, Lock still locks other issues.
func TestLockSkipsIssueHeldElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	held := w.dir.Lock(t.Context(), []string{"42"})
	require.True(t, held.HeldAll())
	attempts := &attemptsLeft{t.Context(), 3}
	some := w.dir.Lock(attempts, []string{"41", "42"})
	require.NotNil(t, some)
	assert.Zero(t, attempts.n, "one attempt at 41 and two at 42")
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

// attemptsLeft is a context that ends after n looks at its error. Lock looks once before each
// attempt to lock a file.
type attemptsLeft struct {
	context.Context
	n int
}

func (a *attemptsLeft) Err() error {
	if a.n == 0 {
		return context.DeadlineExceeded
	}
	a.n--
	return nil
}

// All methods accept a nil IssueLock, which locks no issue.
func TestNilIssueLockIsUsable(t *testing.T) {
	t.Parallel()
	var none *IssueLock
	assert.False(t, none.HeldAll())
	assert.Empty(t, none.Locks())
	none.Begin("", []Move{{Name: "refs/checkpoints/42"}})
	none.Done()
	none.Unlock()
}
