package hooks

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/commands/internal/work"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/failure"
)

func TestPushedObjects(t *testing.T) {
	zero := strings.Repeat("0", 40)
	updates := []hook.Update{{Local: "aa", Remote: zero}, {Local: zero, Remote: "bb"}, {Local: "cc", Remote: "dd"}}
	assert.Equal(t, gitstore.Exposed{Pushed: []string{"aa", "cc"}, There: []string{"bb", "dd"}}, pushedObjects(updates, true))
	assert.Equal(t, gitstore.Exposed{Pushed: []string{"aa", "cc"}}, pushedObjects(updates, false), "another remote has what it has")
}

func TestBlockCode(t *testing.T) {
	secret := &pushError{first: &work.SecretsError{Found: make([]gitstore.Secret, 1)}}
	assert.Equal(t, failure.Secrets, work.PushCode(secret))
	assert.Equal(t, failure.Remote, work.PushCode(&pushError{first: errors.New("refused")}))
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
