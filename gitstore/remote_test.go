package gitstore

import (
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/retention"
	"git-checkpoint/gitstore/testing/gittest"

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

// Diverged chains both stay unchanged, even if one side dropped checkpoints.
func TestDivergedChainsLoseNothing(t *testing.T) {
	gittest.Slow(t)
	a := newWorld(t)
	hub := a.hub()
	a.manual(1)
	a.push()
	b := a.clone(hub)
	b.fetch()
	mine := a.manual(1)
	theirs := b.manual(1)
	require.Equal(t, Pushed, b.push().Result)
	for _, done := range []Synced{a.push(), a.fetch(), a.push()} {
		var remote *RemoteError
		require.ErrorAs(t, done.Err, &remote)
		assert.Equal(t, Diverged, done.Result)
	}
	assert.Contains(t, a.live(), mine[0])
	assert.NotContains(t, a.live(), theirs[0])
	c := a.clone(hub)
	c.fetch()
	assert.Equal(t, b.live(), c.live(), "the remote has what it had")
	assert.Equal(t, b.Git("rev-parse", LiveRef("42")), a.Git("rev-parse", a.s.chain.TrackingRef("origin", "42")))

	require.NoError(t, b.s.Drop(ctx, "42", theirs))
	require.Equal(t, Pushed, b.push().Result, "a drop travels")
	assert.Equal(t, Diverged, a.fetch().Result, "and is not known here")
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

// Shallow clones fetch no additional history, and preserve their own checkpoints.
func TestFetchIntoAShallowClone(t *testing.T) {
	gittest.Slow(t)
	a := newWorld(t)
	for range 20 {
		a.Commit("more")
	}
	hub := a.hub()
	a.manual(6)
	a.push()
	for depth, want := range map[string]string{"1": "1", "5": "5"} {
		c := a.clone(hub, "--depth", depth)
		require.Equal(t, Fetched, c.fetch().Result)
		assert.Equal(t, want, c.Git("rev-list", "--count", "HEAD"), "the history of HEAD is as long as it was")
		assert.NoError(t, func() error { _, err := c.s.Newest(ctx, "42"); return err }())
		id := c.manual(1)
		require.Equal(t, Pushed, c.push().Result)
		require.Equal(t, Fetched, a.fetch().Result)
		assert.Contains(t, a.live(), id[0])
		a.manual(4)
		require.Equal(t, Pushed, a.push().Result)
		assert.Equal(t, Fetched, c.fetch().Result, "though the depth does not reach down to what is here")
		a.sound()
	}
	whole := a.clone(hub)
	whole.fetch()
	assert.False(t, whole.s.repo.Info.Shallow)
	assert.Equal(t, a.live(), whole.live())
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
