package gitstore

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
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

// Local-only checkpoints are pushed without listing the remote's refs, with a lease on
// the expected value.
func TestSyncOfLocalOnlyTakesOneConnection(t *testing.T) {
	gittest.Slow(t)
	a, b, srv, hub := served(t)
	saved := a.manual(2)
	assert.Equal(t, Synced{Issue: "42", Pushed: 2, Result: Pushed}, a.sync())
	assert.EqualValues(t, 1, srv.all.Load())
	for _, ref := range []string{LiveRef("42"), repo.OwnRef("42"), a.s.chain.TrackingRef("origin", "42")} {
		assert.Equal(t, a.Git("--git-dir="+hub, "rev-parse", LiveRef("42")), a.Git("rev-parse", ref), ref)
	}
	assert.Equal(t, UpToDate, a.sync().Result)
	assert.EqualValues(t, 2, srv.all.Load(), "one to look")

	late := b.manual(1)
	done := b.sync()
	assert.Equal(t, Synced{Issue: "42", Fetched: 2, Pushed: 1, Joined: true, Result: Joined}, done, "nobody was first while it looked")
	assert.EqualValues(t, 5, srv.all.Load(), "refused, fetch, push")
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

// Pushes that may require a question happen only after listing the remote's refs, since
// the remote may already have the checkpoints.
func TestSyncAsksAfterListing(t *testing.T) {
	t.Parallel()
	a, _, srv, hub := served(t)
	a.manual(1)
	ask := func(harmless bool) (asked int, done Synced) {
		list, err := a.s.Sync(ctx, SyncRequest{
			Remote: "origin", Issues: []checkpoint.Issue{"42"},
			May: func(_ []checkpoint.Issue, _ []Outgoing, listed bool) []error {
				if listed {
					asked++
				} else if harmless {
					return []error{nil}
				}
				return []error{errors.New("a secret")}
			},
		})
		require.NoError(t, err)
		return asked, list[0]
	}
	asked, done := ask(false)
	require.ErrorContains(t, done.Err, "a secret")
	assert.Equal(t, 1, asked)
	assert.EqualValues(t, 1, srv.all.Load(), "the look")
	assert.NotEqual(t, a.Git("rev-parse", LiveRef("42")), a.Git("--git-dir="+hub, "rev-parse", LiveRef("42")))

	a.Git("push", "-q", "origin", LiveRef("42"))
	asked, done = ask(false)
	assert.Equal(t, UpToDate, done.Result)
	assert.Zero(t, asked, "the remote has it")

	a.manual(1)
	srv.all.Store(0)
	asked, done = ask(true)
	assert.Equal(t, Pushed, done.Result)
	assert.Zero(t, asked)
	assert.EqualValues(t, 1, srv.all.Load())
}

// Checkpoints from Meanwhile are synced too, and Meanwhile runs once.
func TestSyncIncludesSavesOfMeanwhile(t *testing.T) {
	gittest.Slow(t)
	for _, issues := range [][]checkpoint.Issue{nil, {"42"}} {
		a, b, _, _ := served(t)
		b.manual(1) // so that a has to list again
		b.sync()
		var saved []checkpoint.ID
		done, err := a.s.Sync(ctx, SyncRequest{Remote: "origin", Issues: issues, Meanwhile: func() {
			saved = append(saved, a.manual(1)...)
		}})
		require.NoError(t, err)
		require.Len(t, saved, 1)
		assert.Equal(t, Synced{Issue: "42", Fetched: 1, Pushed: 1, Joined: true, Result: Joined}, done[0])
		b.sync()
		assert.Subset(t, b.live(), saved)
	}
}
