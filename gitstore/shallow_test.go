package gitstore

import (
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shallow returns a clone with only the newest depth commits of w's chain.
func (w *world) shallow(depth string) *world {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "clone")
	w.Git("clone", "-q", "--depth", "1", "file://"+w.Dir, dir)
	c := worldIn(w.t, w.Repo, dir)
	c.now = w.now
	c.Git("fetch", "-q", "--depth", depth, "origin", "refs/checkpoints/*:refs/checkpoints/*")
	c.s = c.open(dir)
	return c
}

// Shallow chains accept only new checkpoints and ledger commits. An archive or a drop is a
// ledger commit, and a complete clone removes the commits.
func TestShallowChainsAreAppendOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.manual(5)
	c := w.shallow("2")
	require.True(t, c.s.repo.Info.Shallow)
	l, err := c.s.List(ctx, "42", 0)
	require.NoError(t, err)
	assert.True(t, l.Cut)
	assert.Equal(t, ids[3:], oldestFirst(l))

	saved := c.thinned(checkpoint.Manual, retention.Policy{checkpoint.Manual: {Keep: 1}})
	assert.Empty(t, saved.Pruned)
	assert.Len(t, c.live(), 3)
	assert.Equal(t, w.Git("rev-parse", LiveRef("42")), c.Git("rev-parse", saved.Commit.String()+"^"))

	var refused *RefusedError
	_, err = c.s.Prune(ctx, PruneRequest{Issue: "42", Policy: retention.Policy{checkpoint.Manual: {Keep: 1}}})
	require.ErrorAs(t, err, &refused)
	assert.Contains(t, refused.Reason, "shallow")
	require.NoError(t, c.s.Drop(ctx, "42", ids[4:]))
	assert.Equal(t, []checkpoint.ID{ids[3], saved.ID}, c.live())
	_, err = c.s.Archive(ctx, "42", ids[3:4], retention.ReasonAsked)
	require.NoError(t, err)
	assert.Equal(t, []checkpoint.ID{saved.ID}, c.live())
	assert.Equal(t, ids[3:4], c.archived())
	_, err = c.s.Pin(ctx, "42", saved.ID, true)
	require.NoError(t, err, "a pin is added on top")
	report, err := c.s.Verify(ctx, "42")
	require.NoError(t, err)
	assert.Empty(t, report.Errors)
	assert.Len(t, report.Warnings, 1)

	c.Git("fetch", "-q", "--unshallow", "origin")
	c.Git("fetch", "-q", "origin", "+refs/checkpoints/*:refs/fetched/*")
	c.s = c.open(c.Dir)
	assert.Equal(t, append(ids[:3:3], saved.ID), c.live())
	require.NoError(t, c.s.Drop(ctx, "42", ids[:1]))
	assert.Equal(t, []checkpoint.ID{ids[1], ids[2], saved.ID}, c.live())
	assert.Equal(t, ids[3:4], c.archived())
}

// A shallow boundary may coincide with the depth limit of a read.
func TestShallowBoundaryAtTheDepth(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.manual(3)
	c := w.shallow("2")
	tip, err := c.s.repo.ReadRef(ctx, LiveRef("42"))
	require.NoError(t, err)
	for _, limit := range []int{1, 2, 3} {
		chain, err := c.s.chain.Walk("42", LiveRef("42"), tip, limit)
		require.NoError(t, err)
		assert.Equal(t, limit >= 2, chain.Cut, "limit %d", limit)
	}
}

// A shallow clone has no state commit below the commit at its boundary. When a complete clone has
// archived the chain, a sync of the shallow clone does not copy this commit to the archive here.
func TestShallowBoundaryIsNotArchived(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hub := w.hub()
	w.manual(4)
	w.sync()
	c := w.shallow("2")
	c.Git("remote", "set-url", "origin", "file://"+hub)
	c.s = c.open(c.Dir)
	_, err := c.s.Archive(ctx, "42", nil, retention.ReasonAsked)
	require.NoError(t, err)
	c.sync()
	w.sync()
	assert.Len(t, w.archived(), 4)
	c.sync()
	assert.Empty(t, c.live())
	c.Git("gc", "-q", "--prune=now")
	report, err := c.s.Verify(ctx, "42")
	require.NoError(t, err)
	assert.Empty(t, report.Errors)
}
