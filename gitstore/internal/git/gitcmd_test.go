package git

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"git-checkpoint/gitstore/internal/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func repo(t *testing.T) (*gittest.Repo, Git) {
	t.Helper()
	r := gittest.New(t)
	return r, Git{Dir: r.Dir, Env: []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"}}
}

func TestErrorContainsGitMessage(t *testing.T) {
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
	_, g := repo(t)
	a, b := g.With("X=1"), g.With("X=2")
	for want, git := range map[string]Git{"1": a, "2": b, "3": b.With("X=3")} {
		line, err := git.Line(context.Background(), "-c", "alias.x=!echo $X", "x")
		require.NoError(t, err)
		assert.Equal(t, want, line)
	}
}

// A cancelled git removes its lock files and exits, with its children, within a time
// limit.
func TestCancelledGitRemovesItsLock(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	r, g := repo(t)
	r.Commit("first")
	r.Write("hook", "")
	hook := "#!/bin/sh\necho >" + r.Path("waiting") + "\nexec sleep 30\n"
	require.NoError(t, os.MkdirAll(r.GitPath("hooks"), 0o777))
	require.NoError(t, os.WriteFile(r.GitPath("hooks/reference-transaction"), []byte(hook), 0o777))
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for range 1000 {
			if _, err := os.Stat(r.Path("waiting")); err == nil {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	start := time.Now()
	_, err := g.Output(ctx, "update-ref", "refs/x/y", "HEAD")
	require.Error(t, err)
	assert.Less(t, time.Since(start), 20*time.Second)
	_, err = os.Stat(r.GitPath("refs/x/y.lock"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestFields(t *testing.T) {
	assert.Nil(t, Fields(nil))
	assert.Equal(t, []string{""}, Fields([]byte("\x00")))
	assert.Equal(t, []string{"a", "", "b\n"}, Fields([]byte("a\x00\x00b\n\x00")))
}
