package hooks

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A push that exceeds the time limit is abandoned, a panic becomes an error, and a push
// within the limit returns its result.
func TestInTimeAbandonsALatePush(t *testing.T) {
	c := &invoke.Invocation{Ctx: context.Background()}
	text, err := inTime(c, func() (string, error) { return "pushed", nil })
	assert.Equal(t, "pushed", text)
	require.NoError(t, err)
	_, err = inTime(c, func() (string, error) { panic("broken") })
	require.EqualError(t, err, "broken")
	assert.False(t, c.Detached)

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	c.Ctx = ctx
	over := make(chan struct{})
	defer close(over)
	_, err = inTime(c, func() (string, error) {
		select {
		case <-over:
		case <-time.After(2 * time.Minute):
			t.Error("inTime waits for the push")
		}
		return "", nil
	})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.True(t, c.Detached, "the store stays open for it")
}

func TestPushedObjects(t *testing.T) {
	zero := strings.Repeat("0", 40)
	updates := []hook.Update{{Local: "aa", Remote: zero}, {Local: zero, Remote: "bb"}, {Local: "cc", Remote: "dd"}}
	assert.Equal(t, gitstore.Exposed{Pushed: []string{"aa", "cc"}, There: []string{"bb", "dd"}}, pushedObjects(updates, true))
	assert.Equal(t, gitstore.Exposed{Pushed: []string{"aa", "cc"}}, pushedObjects(updates, false), "another remote has what it has")
}

func TestBlockCode(t *testing.T) {
	secret := &pushError{first: &work.SecretsError{Found: make([]gitstore.Secret, 1)}}
	assert.Equal(t, failure.Secrets, blockCode(secret))
	assert.Equal(t, failure.Remote, blockCode(&pushError{first: errors.New("refused")}))
}

// Every hook that can be installed has a function.
func TestInstalledHooksExist(t *testing.T) {
	names := map[string]bool{}
	for _, e := range hook.Events() {
		assert.False(t, names[e.ConfigName()])
		names[e.ConfigName()] = true
		assert.NotNil(t, hookRuns[string(e)], e)
		assert.Contains(t, e.ConfigCommand(), "git-checkpoint hook "+string(e)+" -- ")
	}
	for _, name := range hook.Agents() {
		for _, e := range hook.AgentNamed(name).Events {
			assert.NotNil(t, hookRuns[e.Hook], e.Hook)
		}
	}
}
