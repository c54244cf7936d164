package git

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func repo(t *testing.T) (*gittest.Repo, Git) {
	t.Helper()
	r := gittest.New(t)
	return r, Git{Dir: r.Dir, Env: []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"}}
}

func TestErrorContainsGitMessage(t *testing.T) {
	t.Parallel()
	_, g := repo(t)
	out, err := g.Output(context.Background(), "-c", "x.y=z", "rev-parse", "--git-dir", "--verify", "none")
	var e *CommandError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, 128, Code(err))
	assert.Equal(t, "git rev-parse: Needed a single revision", err.Error())
	assert.Equal(t, ".git\n", string(out))
	assert.Equal(t, 0, Code(nil))
	assert.Equal(t, -1, Code(os.ErrExist))

	g.Dir = filepath.Join(g.Dir, "none")
	_, err = g.Output(context.Background(), "version")
	assert.Equal(t, -1, Code(err))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestLaterEnvironmentTakesPrecedence(t *testing.T) {
	t.Parallel()
	_, g := repo(t)
	a, b := g.With("X=1"), g.With("X=2")
	for want, git := range map[string]Git{"1": a, "2": b, "3": b.With("X=3")} {
		line, err := git.Line(context.Background(), "-c", "alias.x=!echo $X", "x")
		require.NoError(t, err)
		assert.Equal(t, want, line)
	}
}

// patience ends a wait for an event that does not happen. Processes that must not be waited
// for sleep longer, for 600 seconds.
const patience = 2 * time.Minute

// inPatience runs f. It fails the test if f hangs.
func inPatience(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("still waits for git")
	}
}

// cancelAt cancels when a file exists.
func cancelAt(cancel func(), file string) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			break
		}
	}
	cancel()
}

// A cancelled git removes its lock files. Its end is not delayed by a hook that hangs.
func TestCancelledGitRemovesItsLock(t *testing.T) {
	gittest.Slow(t)
	r, g := repo(t)
	r.Commit("first")
	r.Write("hook", "")
	hook := "#!/bin/sh\necho $$ >child\nmv child '" + r.Path("waiting") + "'\nexec sleep 600\n"
	require.NoError(t, os.MkdirAll(r.GitPath("hooks"), 0o777))
	require.NoError(t, os.WriteFile(r.GitPath("hooks/reference-transaction"), []byte(hook), 0o777))
	ctx, cancel := context.WithCancel(context.Background())
	go cancelAt(cancel, r.Path("waiting"))
	var err error
	inPatience(t, func() { _, err = g.Output(ctx, "update-ref", "refs/x/y", "HEAD") })
	require.Error(t, err)
	text, err := os.ReadFile(r.Path("waiting"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill() // git does not forward the signal to the hook
	}
	_, err = os.Stat(r.GitPath("refs/x/y.lock"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestFields(t *testing.T) {
	t.Parallel()
	assert.Nil(t, Fields(nil))
	assert.Equal(t, []string{""}, Fields([]byte("\x00")))
	assert.Equal(t, []string{"a", "", "b\n"}, Fields([]byte("a\x00\x00b\n\x00")))
}
