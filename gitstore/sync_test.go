package gitstore

import (
	"fmt"
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/testing/gittest"

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

// Syncs preserve common commits, including ledger commits.
func TestSyncKeepsTheCommonPart(t *testing.T) {
	gittest.Slow(t)
	a, b, _, ids := pair(t, 2)
	_, err := a.s.Pin(ctx, "42", ids[0], true)
	require.NoError(t, err)
	a.sync()
	b.sync()
	common := a.tip()
	a.manual(1)
	b.manual(1)
	b.sync()
	a.sync()
	assert.Equal(t, common, a.Git("merge-base", common, LiveRef("42")))
	assert.Equal(t, ids[:1], a.pinned())
}

func (w *world) pinned() (ids []checkpoint.ID) {
	w.t.Helper()
	l, err := w.s.List(ctx, "42", 0)
	require.NoError(w.t, err)
	for _, c := range l.Checkpoints {
		if c.Pinned {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// Two contents for one checkpoint id are a forgery. All clones still agree on one
// content.
func TestSyncAgreesOnForgedContent(t *testing.T) {
	t.Parallel()
	a, b, hub, ids := pair(t, 2)
	b.Git("update-ref", LiveRef("42"), b.Git("-c", "user.name=x", "-c", "user.email=x@x", "commit-tree", "-p", LiveRef("42")+"~1", "-p", LiveRef("42")+"^2",
		"-m", b.Git("log", "-1", "--format=%B", LiveRef("42")), LiveRef("42")+"~1^{tree}"))
	require.Equal(t, ids, b.live())
	a.manual(1)
	for range 2 {
		a.sync()
		b.sync()
	}
	assert.Equal(t, a.Git("--git-dir="+hub, "rev-parse", LiveRef("42")), a.tip())
	assert.Equal(t, a.tip(), b.tip())
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

// Shallow clones can follow, append and join.
func TestSyncShallow(t *testing.T) {
	gittest.Slow(t)
	a, _, hub, _ := pair(t, 3)
	c := a.clone(hub, "--depth=1")
	c.Git("fetch", "-q", "--depth=2", "origin", LiveRef("42")+":"+LiveRef("42"))
	c.s = c.open(c.Dir)
	c.manual(1)
	assert.Equal(t, Pushed, c.sync().Result)
	a.sync()
	a.manual(1)
	a.sync()
	assert.Equal(t, Fetched, c.sync().Result)
	a.manual(1)
	a.sync()
	c.manual(1)
	assert.Equal(t, Joined, c.sync().Result)
	c.Git("fetch", "-q", "--unshallow", "origin")
	c.s = c.open(c.Dir)
	c.sync()
	assert.Len(t, c.live(), 7)
}

// Complete chains in shallow clones stay complete after any number of fetched
// checkpoints.
func TestSyncKeepsCompleteChainInShallowClone(t *testing.T) {
	gittest.Slow(t)
	a, _, hub, _ := pair(t, 1)
	c := a.clone(hub, "--depth=1")
	require.NoError(t, c.sync().Err)
	a.manual(6)
	a.sync()
	c.manual(2)
	assert.Equal(t, Synced{Issue: "42", Fetched: 6, Pushed: 2, Joined: true, Result: Joined}, c.sync())
	assert.Len(t, c.live(), 9)
	assert.False(t, mustRead(t, c).Cut)
}

// One sync covers every issue, including issues known to one clone only.
func TestSyncAll(t *testing.T) {
	t.Parallel()
	a, b, hub, _ := pair(t, 1)
	for n := range 5 {
		_, err := a.s.Save(ctx, SaveRequest{Issue: checkpoint.Issue(fmt.Sprint(n)), Edit: a.request(checkpoint.Manual).Edit})
		require.NoError(t, err)
	}
	a.Git("update-ref", "-d", LiveRef("3"))
	for _, w := range []*world{a, b} {
		done, err := w.s.Sync(ctx, SyncRequest{Remote: "origin"})
		require.NoError(t, err)
		require.Len(t, done, 6)
		for _, d := range done {
			require.NoError(t, d.Err)
		}
	}
	assert.Equal(t, a.Git("for-each-ref", "refs/checkpoints"), b.Git("for-each-ref", "refs/checkpoints"))
	assert.Equal(t, a.Git("for-each-ref", "refs/checkpoints"), a.Git("--git-dir="+hub, "for-each-ref", "refs/checkpoints"))
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
