package gitstore

import (
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hub creates a bare repository as remote of w, with w's branch.
func (w *world) hub() string {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "hub")
	w.Git("init", "-q", "--bare", dir)
	w.Git("--git-dir="+dir, "symbolic-ref", "HEAD", "refs/heads/main")
	w.Git("remote", "add", "origin", dir)
	w.Git("push", "-q", "origin", "main")
	w.s = w.open(w.Dir)
	return dir
}

// clone creates another clone of a hub.
func (w *world) clone(hub string, args ...string) *world {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "clone")
	w.Git(append(append([]string{"clone", "-q"}, args...), "file://"+hub, dir)...)
	c := worldIn(w.t, w.Repo, dir)
	c.now = w.now
	return c
}

func (w *world) fetch() Synced {
	w.t.Helper()
	done, err := w.s.Fetch(ctx, FetchRequest{Remote: "origin", Issues: []checkpoint.Issue{"42"}})
	require.NoError(w.t, err)
	require.Len(w.t, done, 1)
	return done[0]
}

func (w *world) push() Synced {
	w.t.Helper()
	done, err := w.s.Push(ctx, PushRequest{Remote: "origin", Issues: []checkpoint.Issue{"42"}})
	require.NoError(w.t, err)
	require.Len(w.t, done, 1)
	return done[0]
}

func TestDefaultRemote(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.s.Remote(ctx)
	require.ErrorIs(t, err, ErrNoRemote)
	for _, step := range []struct{ key, value, want string }{
		{"remote.origin.url", "x", "origin"},
		{"branch.main.remote", ".", "origin"},
		{"branch.main.remote", "up/stream", "up/stream"},
		{"checkpoint.remote", "backup", "backup"},
	} {
		w.Git("config", step.key, step.value)
		got, err := w.open(w.Dir).Remote(ctx)
		require.NoError(t, err)
		assert.Equal(t, step.want, got)
	}
}
