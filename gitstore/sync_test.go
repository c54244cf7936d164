package gitstore

import (
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (w *world) sync() Synced {
	w.t.Helper()
	done, err := w.s.Sync(ctx, SyncRequest{Remote: "origin", Issues: []checkpoint.Issue{"42"}})
	require.NoError(w.t, err)
	require.Len(w.t, done, 1)
	require.NoError(w.t, done[0].Err)
	return done[0]
}

func (w *world) tip() string { return w.Git("rev-parse", LiveRef("42")) }

// pair returns two clones of a hub with n common checkpoints.
func pair(t *testing.T, n int) (a, b *world, hub string, ids []checkpoint.ID) {
	t.Helper()
	a = newWorld(t)
	hub = a.hub()
	ids = a.manual(n)
	require.Equal(t, Pushed, a.sync().Result)
	b = a.clone(hub)
	require.Equal(t, Fetched, b.sync().Result)
	return a, b, hub, ids
}

// meet syncs all clones twice, and checks that they agree.
func meet(t *testing.T, hub string, clones ...*world) {
	t.Helper()
	for range 2 {
		for _, c := range clones {
			c.sync()
		}
	}
	want := clones[0].Git("--git-dir="+hub, "rev-parse", LiveRef("42"))
	for _, c := range clones {
		assert.Equal(t, want, c.tip())
		assert.Equal(t, want, c.Git("rev-parse", repo.OwnRef("42")))
		assert.Equal(t, Synced{Issue: "42", Result: UpToDate}, c.sync())
		c.sound()
	}
}

func TestSyncJoins(t *testing.T) {
	t.Parallel()
	a, b, hub, ids := pair(t, 2)
	mine, theirs := a.manual(1), b.manual(2)
	assert.Equal(t, Synced{Issue: "42", Pushed: 2, Result: Pushed}, b.sync())
	assert.Equal(t, Synced{Issue: "42", Fetched: 2, Pushed: 1, Joined: true, Result: Joined}, a.sync())
	meet(t, hub, a, b)
	assert.ElementsMatch(t, append(append(ids, mine...), theirs...), a.live())
}

// Merges never omit an unknown commit.
func TestSyncRejectsUnknownCommit(t *testing.T) {
	t.Parallel()
	a, b, hub, _ := pair(t, 1)
	strange := a.Git("-c", "user.name=x", "-c", "user.email=x@x", "commit-tree", "-p", LiveRef("42"), "-m", "something new", LiveRef("42")+"^{tree}")
	a.Git("push", "-q", hub, strange+":"+LiveRef("42"))
	b.manual(1)
	before := b.Git("for-each-ref")
	done, err := b.s.Sync(ctx, SyncRequest{Remote: "origin", Issues: []checkpoint.Issue{"42"}})
	require.NoError(t, err)
	require.ErrorAs(t, done[0].Err, new(*CorruptError))
	assert.Equal(t, before, b.Git("for-each-ref"))
	assert.Equal(t, strange, a.Git("--git-dir="+hub, "rev-parse", LiveRef("42")))
}

// If a local ref moves after the push, the result still counts pushed checkpoints.
func TestSyncCountsPushBeforeLocalRace(t *testing.T) {
	t.Parallel()
	a, _, hub, _ := pair(t, 1)
	a.Git("config", "--add", "remote.origin.fetch", "+refs/checkpoints/*:refs/checkpoints/*")
	a.s = a.open(a.Dir)
	a.manual(2)
	a.Git("update-ref", "-d", LiveRef("42")) // git's push recreates the ref because of this setting
	assert.Equal(t, Synced{Issue: "42", Pushed: 2, Retries: 1, Result: Pushed}, a.sync())
	assert.Equal(t, a.Git("--git-dir="+hub, "rev-parse", LiveRef("42")), a.tip())
	assert.Equal(t, Synced{Issue: "42", Result: UpToDate}, a.sync())
}

// With pushInsteadOf, syncs read the push destination.
func TestSyncWithPushInsteadOf(t *testing.T) {
	t.Parallel()
	a := newWorld(t)
	hub := a.hub()
	fork := filepath.Join(t.TempDir(), "fork")
	a.Git("init", "-q", "--bare", fork)
	a.Git("config", "url."+fork+".pushInsteadOf", hub)
	a.s = a.open(a.Dir)
	a.manual(1)
	assert.Equal(t, Synced{Issue: "42", Pushed: 1, Result: Pushed}, a.sync())
	assert.Equal(t, Synced{Issue: "42", Result: UpToDate}, a.sync())
	assert.Equal(t, a.tip(), a.Git("--git-dir="+fork, "rev-parse", LiveRef("42")))
	assert.Empty(t, a.Git("--git-dir="+hub, "for-each-ref", "refs/checkpoints"))
}
