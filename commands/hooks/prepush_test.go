package hooks

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

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

func TestReadSession(t *testing.T) {
	const long = time.Minute
	stuck := sessionInput{StopActive: true}
	for _, c := range []struct {
		name, in string
		want     sessionInput
	}{
		{"whole", `{"session_id":"a","cwd":"/x"}`, sessionInput{SessionID: "a"}},
		{"again", `{"session_id":"a","stop_hook_active":true}` + "\n", sessionInput{SessionID: "a", StopActive: true}},
		{"nothing", "", stuck},
		{"cut", `{"session_id":"a"`, sessionInput{StopActive: true}},
		{"no object", "hello", stuck},
		{"prompt with parts", `{"prompt":[{"text":"x"}],"session_id":"a"}`, sessionInput{SessionID: "a", StopActive: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, readSession(strings.NewReader(c.in), long))
		})
	}

	open, w := io.Pipe() // never closed
	defer w.Close()
	assert.Equal(t, stuck, readSession(open, time.Millisecond))

	open, w = io.Pipe()
	defer w.Close()
	go io.WriteString(w, `{"session_id":"a"}`)
	assert.Equal(t, sessionInput{SessionID: "a"}, readSession(open, long), "its end is not waited for")
}
