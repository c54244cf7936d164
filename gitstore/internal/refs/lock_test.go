//go:build unix

package refs

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// If a stopped process holds an issue's lock, Lock still locks other issues. The folder and the
// files are shared with other users.
func TestLockSkipsIssueHeldElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	held := w.refs.Lock(t.Context(), []string{"42"})
	require.Len(t, held.Files(), 1)
	assert.Equal(t, map[string]bool{"git-checkpoint": true, "git-checkpoint/lock": true, "git-checkpoint/lock/42": true}, w.shared)
	attempts := &attemptsLeft{t.Context(), 3}
	some := w.refs.Lock(attempts, []string{"41", "42"})
	assert.Zero(t, attempts.n, "one attempt at 41 and two at 42")
	assert.Len(t, some.Files(), 1)
	assert.False(t, some.HasAll())
	some.Unlock()
	held.Unlock()
	both := w.refs.Lock(t.Context(), []string{"41", "42"})
	assert.Len(t, both.Files(), 2)
	assert.True(t, both.HasAll())
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
	assert.Empty(t, none.Files())
	assert.False(t, none.HasAll())
	none.Unlock()
}
