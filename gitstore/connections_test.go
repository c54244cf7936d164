package gitstore

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// served returns two clones with a common issue, and a remote that counts connections.
func served(t *testing.T) (a, b *world, srv *server, hub string) {
	t.Helper()
	a = newWorld(t)
	hub = a.hub()
	b = a.clone(hub)
	srv, url := serve(t, filepath.Dir(hub))
	for _, w := range []*world{a, b} {
		w.Git("remote", "set-url", "origin", url+filepath.Base(hub))
		w.s = w.open(w.Dir)
	}
	a.manual(1)
	a.sync()
	b.sync()
	srv.all.Store(0)
	return a, b, srv, hub
}

// A sync takes one connection to list the refs of the remote, and one more for a push.
func TestSyncTakesFewConnections(t *testing.T) {
	gittest.Slow(t)
	a, b, srv, hub := served(t)
	saved := a.manual(2)
	assert.Equal(t, Synced{Issue: "42", Pushed: 2, Result: Pushed}, a.sync())
	assert.EqualValues(t, 2, srv.all.Load(), "list, push")
	for _, ref := range []string{LiveRef("42"), repo.OwnRef("42"), a.s.chain.TrackingRef("origin", "42")} {
		assert.Equal(t, a.Git("--git-dir="+hub, "rev-parse", LiveRef("42")), a.Git("rev-parse", ref), ref)
	}
	assert.Equal(t, UpToDate, a.sync().Result)
	assert.EqualValues(t, 3, srv.all.Load(), "list")

	late := b.manual(1)
	done := b.sync()
	assert.Equal(t, Synced{Issue: "42", Fetched: 2, Pushed: 1, Joined: true, Result: Joined}, done)
	assert.EqualValues(t, 6, srv.all.Load(), "list, fetch, push")
	assert.Equal(t, Fetched, a.sync().Result)
	assert.Subset(t, a.live(), slices.Concat(saved, late))
	a.sound()
	b.sound()
}

// Checkpoints that plain git has pushed do not count as pushed by the sync.
func TestSyncAfterPlainPush(t *testing.T) {
	t.Parallel()
	a, _, srv, _ := served(t)
	a.manual(1)
	a.Git("push", "-q", "origin", LiveRef("42")+":"+LiveRef("42"))
	before := srv.all.Load()
	assert.Equal(t, Synced{Issue: "42", Result: UpToDate}, a.sync())
	assert.EqualValues(t, 1, srv.all.Load()-before)
	assert.Equal(t, a.Git("rev-parse", LiveRef("42")), a.Git("rev-parse", a.s.chain.TrackingRef("origin", "42")))
}

// A fetch opens one connection for the list of refs, and a second one if the remote has new commits.
func TestFetchTakesFewConnections(t *testing.T) {
	gittest.Slow(t)
	a, b, srv, hub := served(t)
	fetch := func(w *world, i checkpoint.Issue) (Synced, int64) {
		before := srv.all.Load()
		done, err := w.s.Fetch(ctx, FetchRequest{Remote: "origin", Issues: []checkpoint.Issue{i}})
		require.NoError(t, err)
		require.Len(t, done, 1)
		return done[0], srv.all.Load() - before
	}
	c := a.clone(hub)
	c.Git("remote", "set-url", "origin", a.Git("remote", "get-url", "origin"))
	c.s = c.open(c.Dir)
	for _, test := range []struct {
		name   string
		w      *world
		issue  checkpoint.Issue
		result string
		took   int64
	}{
		{"new", c, "42", Fetched, 2},
		{"known", c, "42", UpToDate, 1},
		{"none", c, "43", Absent, 1},
		{"none, of a name that is encoded", b, "a/b c", Absent, 1},
	} {
		done, took := fetch(test.w, test.issue)
		assert.Equal(t, test.result, done.Result, test.name)
		require.NoError(t, done.Err)
		assert.Equal(t, test.took, took, test.name)
	}
	assert.Equal(t, a.live(), c.live())
	assert.Empty(t, c.Git("for-each-ref", remote.Incoming))
	a.manual(1)
	a.sync()
	done, took := fetch(c, "42")
	assert.Equal(t, Fetched, done.Result)
	assert.EqualValues(t, 2, took)

	srv.left.Store(0)
	_, err := c.s.Fetch(ctx, FetchRequest{Remote: "origin", Issues: []checkpoint.Issue{"44"}})
	require.ErrorAs(t, err, new(*RemoteError))
}

// Syncing an unknown issue takes as many connections, even if no repository has it.
func TestSyncOfUnknownIssueTakesFewConnections(t *testing.T) {
	gittest.Slow(t)
	a, _, srv, hub := served(t)
	c := a.clone(hub)
	c.Git("remote", "set-url", "origin", a.Git("remote", "get-url", "origin"))
	c.s = c.open(c.Dir)
	assert.Equal(t, Synced{Issue: "42", Fetched: 1, Result: Fetched}, c.sync())
	assert.EqualValues(t, 2, srv.all.Load())
	assert.Equal(t, a.live(), c.live())
	assert.Empty(t, c.Git("for-each-ref", remote.Incoming))
	done, err := c.s.Sync(ctx, SyncRequest{Remote: "origin", Issues: []checkpoint.Issue{"43"}})
	require.NoError(t, err)
	assert.Equal(t, []Synced{{Issue: "43", Result: Absent}}, done)
	assert.EqualValues(t, 3, srv.all.Load())

	c.Git("update-ref", "-d", LiveRef("42"))
	c.Git("update-ref", "-d", c.s.chain.TrackingRef("origin", "42"))
	assert.Zero(t, c.sync().Fetched, "own/ knows it")
	assert.Equal(t, a.live(), c.live())
}

// Thousands of stale refs are deleted in one transaction, and do not delay a fetch.
func TestStaleRefsAreDeletedInOneTransaction(t *testing.T) {
	gittest.Slow(t)
	w := newWorld(t)
	w.hub()
	w.left(2000)
	w.Git("pack-refs", "--all")
	w.Git("update-ref", remote.Incoming+"2-1/42", "HEAD")
	trace := filepath.Join(t.TempDir(), "trace")
	w.s.repo.Git = w.s.repo.Git.With("GIT_TRACE=" + trace)
	l, err := w.s.sharer.Connect(ctx, "fetch", "origin", 0, false)
	require.NoError(t, err)
	_, err = l.Fetch(ctx, nil, []string{LiveRef("43")}, 0)
	require.ErrorContains(t, err, "couldn't find remote ref")
	assert.Empty(t, w.incomingLeft())
	said, err := os.ReadFile(trace)
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(said), "built-in: git update-ref"), "%s", said)
}
