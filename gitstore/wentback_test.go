package gitstore

import (
	"os"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/ledger"
	"git-checkpoint/gitstore/retention"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goBack restores all files of a checkpoint as a user does.
func (w *world) goBack(id checkpoint.ID) *Restored {
	w.t.Helper()
	c, err := w.s.ByID(ctx, "42", id)
	require.NoError(w.t, err)
	w.now = w.now.Add(time.Second)
	done, err := w.s.Restore(ctx, RestoreRequest{Checkpoint: c, Request: RestoreOptions{Asked: true}})
	require.NoError(w.t, err)
	return done
}

// point returns the id of the checkpoint from which the work goes on.
func (w *world) point() checkpoint.ID {
	w.t.Helper()
	p, err := w.s.Point(ctx, "42")
	require.NoError(w.t, err)
	return p.ID
}

// Pins, drops and prunes keep the restoration, also those that rewrite the chain.
func TestGoingBackOutlivesOtherChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.manual(5)
	w.goBack(ids[2])
	require.Equal(t, ids[2], w.point())
	_, err := w.s.Pin(ctx, "42", ids[0], true)
	require.NoError(t, err)
	assert.Equal(t, ids[2], w.point())
	require.NoError(t, w.s.Drop(ctx, "42", []checkpoint.ID{ids[1]}))
	assert.Equal(t, ids[2], w.point())
	pruned, err := w.s.Prune(ctx, PruneRequest{Issue: "42", Policy: retention.Policy{checkpoint.Manual: {Keep: 1}}})
	require.NoError(t, err)
	assert.Contains(t, pruned.Removed, ids[3])
	assert.NotContains(t, pruned.Removed, ids[2])
	assert.Equal(t, ids[2], w.point())
	w.sound()

	saved := w.save(w.request(checkpoint.Manual))
	assert.Equal(t, saved.ID, w.point(), "a save ends it")
	require.NoError(t, w.s.Drop(ctx, "42", []checkpoint.ID{ids[2]}))
	assert.Equal(t, saved.ID, w.point())
}

// A checkpoint that another clone saved before the restore is left too, and one that it saved
// afterwards ends the restore. All clones agree.
func TestGoingBackIsJoined(t *testing.T) {
	t.Parallel()
	for name, saveLater := range map[string]bool{"saved before": false, "saved after": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b, hub, ids := pair(t, 3)
			b.now = a.now
			if saveLater {
				b.now = b.now.Add(time.Hour)
			}
			other := b.manual(1)[0]
			a.now = a.now.Add(time.Minute)
			a.goBack(ids[0])
			b.sync()
			meet(t, hub, a, b)
			want := ids[0]
			if saveLater {
				want = other
			}
			assert.Equal(t, want, a.point())
			assert.Equal(t, want, b.point())
		})
	}
}

// A restore alone is pushed and fetched, and the newest one of two clones counts.
func TestGoingBackTravels(t *testing.T) {
	t.Parallel()
	a, b, hub, ids := pair(t, 3)
	a.goBack(ids[0])
	assert.Equal(t, Synced{Issue: "42", Result: Pushed, Facts: ledger.Count{Restored: 1}}, a.sync())
	assert.Equal(t, Synced{Issue: "42", Result: Fetched, Facts: ledger.Count{Restored: 1}}, b.sync())
	p, err := b.s.Point(ctx, "42")
	require.NoError(t, err)
	assert.Equal(t, ids[0], p.ID)
	assert.Equal(t, a.s.repo.Author(), p.By)
	assert.True(t, p.WentBack())
	assert.Equal(t, []checkpoint.ID{ids[2], ids[1]}, []checkpoint.ID{p.Later[0].ID, p.Later[1].ID})

	a.now = a.now.Add(time.Minute)
	a.goBack(ids[1])
	b.now = a.now.Add(time.Minute)
	b.goBack(ids[2])
	meet(t, hub, a, b)
	assert.Equal(t, ids[2], a.point(), "the newest checkpoint, so nothing is left any more")
	assert.Equal(t, ids[2], b.point())
}

// The restore itself does not depend on the record of it.
func TestGoingBackRestoresIfTheRefCannotMove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var told []string
	s, err := Open(ctx, Options{Dir: w.Dir, Now: func() time.Time { return w.now }, Notify: func(text string) { told = append(told, text) }})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	w.s = s
	w.Write("file", "one\n")
	req := w.request(checkpoint.Manual)
	first := w.save(req)
	w.Write("file", "two\n")
	w.save(req)
	w.Write(".git/hooks/reference-transaction", "#!/bin/sh\n! grep -q refs/checkpoints/\n")
	require.NoError(t, os.Chmod(w.GitPath("hooks/reference-transaction"), 0o777))
	done := w.goBack(first.ID)
	assert.Equal(t, []string{"file"}, done.Restored)
	assert.Contains(t, strings.Join(told, "\n"), "it is not recorded that the work goes on from "+string(first.ID))
	require.NoError(t, os.Remove(w.GitPath("hooks/reference-transaction")))
	assert.NotEqual(t, first.ID, w.point())
}
