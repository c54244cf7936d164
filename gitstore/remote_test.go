package gitstore

import (
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/retention"

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
	_, err := w.s.Remotes(ctx)
	require.ErrorIs(t, err, ErrNoRemote)
	for _, step := range []struct{ key, value, want string }{
		{"remote.origin.url", "x", "origin"},
		{"branch.main.remote", ".", "origin"},
		{"branch.main.remote", "up/stream", "up/stream"},
		{"branch.main.merge", "refs/heads/main", "up/stream"},
		{"branch.main.merge", "refs/heads/trunk", "refused: origin up/stream"},
		{"push.default", "current", "up/stream"},
		{"remote.pushDefault", "fork", "fork up/stream"},
		{"branch.main.remote", ".", "fork origin"},
		{"branch.main.pushRemote", "mine", "mine origin"},
		{"checkpoint.remote", "backup", "backup"},
	} {
		w.Git("config", step.key, step.value)
		names, err := w.open(w.Dir).Remotes(ctx)
		got := strings.Join(names, " ")
		if err != nil {
			got = "refused: " + got
		}
		assert.Equal(t, step.want, got)
	}
}

// Chains after local retention can be pushed and fetched, because their ledger accounts
// for dropped checkpoints.
func TestPushAndFetchAThinnedChain(t *testing.T) {
	t.Parallel()
	a := newWorld(t)
	hub := a.hub()
	policy := retention.Policy{checkpoint.Interval: {Keep: 1}}
	first := a.thinned(checkpoint.Interval, policy)
	require.Equal(t, Pushed, a.push().Result)
	b := a.clone(hub)
	require.Equal(t, Fetched, b.fetch().Result)

	second := a.thinned(checkpoint.Interval, policy)
	require.Equal(t, []checkpoint.ID{first.ID}, second.Pruned)
	done := a.push()
	require.NoError(t, done.Err)
	assert.Equal(t, Synced{Issue: "42", Pushed: 1, Result: Pushed, Facts: ledger.Count{Pruned: 1}}, done)
	assert.Equal(t, Synced{Issue: "42", Fetched: 1, Result: Fetched, Facts: ledger.Count{Pruned: 1}}, b.fetch())
	assert.Equal(t, []checkpoint.ID{second.ID}, b.live())
	assert.Equal(t, UpToDate, b.fetch().Result)
	assert.Equal(t, UpToDate, b.push().Result)
	a.sound()
	b.sound()
}

// Fetch restores a live ref that plain git deleted.
func TestFetchRestoresDeletedRef(t *testing.T) {
	t.Parallel()
	a := newWorld(t)
	a.hub()
	a.manual(1)
	a.push()
	ids := a.manual(1)
	a.Git("update-ref", "-d", LiveRef("42"))
	assert.Equal(t, Ahead, a.fetch().Result)
	assert.Equal(t, ids[0], a.live()[1])
	a.sound()
}

// If the remote has moved, push lists its refs again.
func TestPushFollowsTheRemote(t *testing.T) {
	t.Parallel()
	a := newWorld(t)
	hub := a.hub()
	a.manual(1)
	a.push()
	b := a.clone(hub)
	b.fetch()
	b.manual(1)
	b.push()
	a.fetch()
	a.manual(1)
	require.Equal(t, Pushed, a.push().Result)
	a.Git("--git-dir="+hub, "update-ref", "-d", LiveRef("42"))
	assert.Equal(t, Synced{Issue: "42", Pushed: 3, Result: Pushed}, a.push(), "a ref that is gone there is made again")
	b.manual(1)
	assert.Equal(t, Diverged, b.push().Result)
}
