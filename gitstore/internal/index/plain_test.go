package index

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/testing/gittest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// runner returns a Git function for a repository.
func runner(r *gittest.Repo) Git {
	return func(ctx context.Context, env []string, args ...string) ([]byte, error) {
		c := r.In(r.Dir)
		for _, kv := range env {
			key, value, _ := strings.Cut(kv, "=")
			c.Setenv(key, value)
		}
		return c.RunContext(ctx, nil, args...)
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	for name, arrange := range map[string]func(*gittest.Repo){
		"split": func(r *gittest.Repo) {
			r.Git("config", "core.splitIndex", "true")
			r.Git("update-index", "--split-index")
		},
		"sparse": func(r *gittest.Repo) {
			r.Commit("all")
			r.Git("sparse-checkout", "init", "--cone", "--sparse-index")
			r.Git("sparse-checkout", "set", "d")
		},
	} {
		for _, linked := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				r := gittest.New(t)
				stage(r, "a", "d/e/f", "d/g", "h/i/j", "h/k")
				r.Git("commit", "-q", "-m", "all")
				r.Git("reset", "-q", "--hard")
				if linked {
					r.Git("worktree", "add", "-q", r.Dir+"-linked", "-b", "linked")
					r = r.In(r.Dir + "-linked")
				}
				arrange(r)
				stage(r, "d/new")
				checkPlain(t, r)
			})
		}
	}
}

func checkPlain(t *testing.T, r *gittest.Repo) {
	t.Helper()
	path := r.GitPath("index")
	_, err := Open(path)
	require.ErrorIs(t, err, ErrUnsupported)
	past := time.Now().Add(-time.Hour).Truncate(time.Second)
	require.NoError(t, os.Chtimes(path, past, past))
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	hooked := watch(t, r)

	temp := t.TempDir()
	x, done, err := Plain(context.Background(), runner(r), path, temp)
	require.NoError(t, err)
	got, err := x.WriteTree(objectsOf(r), sink{})
	require.NoError(t, err)
	assert.Len(t, x.Lookup("h/i/j"), 1)
	assert.Equal(t, past, x.ModTime())
	assert.Equal(t, 6, x.Len())
	done()

	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, left)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, before, after)
	stat, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, past, stat.ModTime())
	assert.NoFileExists(t, hooked)
	r.Git("config", "core.fsmonitor", "")
	assert.Equal(t, r.Git("write-tree"), got.String())
}

// watch installs a hook and a file system monitor that create a file.
func watch(t *testing.T, r *gittest.Repo) string {
	t.Helper()
	ran := r.GitPath("ran")
	script := []byte("#!/bin/sh\n: >'" + ran + "'\n")
	hook := r.GitPath("hooks/post-index-change")
	require.NoError(t, os.MkdirAll(r.GitPath("hooks"), 0o755))
	for _, f := range []string{hook, r.GitPath("monitor")} {
		require.NoError(t, os.WriteFile(f, script, 0o755))
	}
	r.Git("config", "core.fsmonitor", r.GitPath("monitor"))
	return ran
}

// If git cannot read the index, Plain returns an error and leaves no files.
func TestPlainOfUnknownExtensionFails(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	data := encode(2, paths("a"), extension("zzzz", "?"))
	require.NoError(t, os.WriteFile(r.GitPath("index"), data, 0o644))
	temp := t.TempDir()
	_, _, err := Plain(context.Background(), runner(r), r.GitPath("index"), temp)
	require.ErrorContains(t, err, "zzzz")
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestPlainOfMissingFileFails(t *testing.T) {
	t.Parallel()
	_, _, err := Plain(context.Background(), nil, t.TempDir()+"/none", t.TempDir())
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// If a file changes in the second of the index and keeps its size, git detects the change
// only by the index date.
func TestPlainKeepsEntriesThatMayHaveChanged(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("a", "one\n")
	r.Write("b", "one\n")
	r.Git("add", "-A")
	r.Git("update-index", "--split-index")
	now := time.Now().Add(-time.Hour).Truncate(time.Second)
	for _, f := range []string{"a", "b"} {
		require.NoError(t, os.Chtimes(r.Path(f), now, now))
	}
	r.Git("update-index", "--refresh")
	r.Write("a", "two\n")
	for _, f := range []string{r.Path("a"), r.GitPath("index")} {
		require.NoError(t, os.Chtimes(f, now, now))
	}
	r.Git("config", "core.trustctime", "false")

	x, done, err := Plain(context.Background(), runner(r), r.GitPath("index"), t.TempDir())
	require.NoError(t, err)
	defer done()
	assert.Zero(t, x.Lookup("a")[0].Size, "git marks a changed file so")
	assert.Equal(t, uint32(4), x.Lookup("b")[0].Size)
}
