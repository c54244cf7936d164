package gitstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/remote"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Fetching an unknown issue takes one connection, even if the remote lacks it.
func TestFetchOfUnknownIssueTakesOneConnection(t *testing.T) {
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
		{"new", c, "42", Fetched, 1},
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
	assert.EqualValues(t, 2, took, "one to look: it may have been there before")

	srv.left.Store(0)
	_, err := c.s.Fetch(ctx, FetchRequest{Remote: "origin", Issues: []checkpoint.Issue{"44"}})
	require.ErrorAs(t, err, new(*RemoteError))
}

// Syncing an unknown issue also takes one connection, even if no repository has it.
func TestSyncOfUnknownIssueTakesOneConnection(t *testing.T) {
	gittest.Slow(t)
	a, _, srv, hub := served(t)
	c := a.clone(hub)
	c.Git("remote", "set-url", "origin", a.Git("remote", "get-url", "origin"))
	c.s = c.open(c.Dir)
	assert.Equal(t, Synced{Issue: "42", Fetched: 1, Result: Fetched}, c.sync())
	assert.EqualValues(t, 1, srv.all.Load())
	assert.Equal(t, a.live(), c.live())
	assert.Empty(t, c.Git("for-each-ref", remote.Incoming))
	done, err := c.s.Sync(ctx, SyncRequest{Remote: "origin", Issues: []checkpoint.Issue{"43"}})
	require.NoError(t, err)
	assert.Equal(t, []Synced{{Issue: "43", Result: Absent}}, done)
	assert.EqualValues(t, 2, srv.all.Load())

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
	_, ok, err := l.FetchWithoutListing(ctx, LiveRef("43"), true)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Empty(t, w.incomingLeft())
	said, err := os.ReadFile(trace)
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(said), "built-in: git update-ref"), "%s", said)
}
