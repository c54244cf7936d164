package gitstore

import (
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Imported records keep their own fields, and missing fields are filled in.
func TestKeep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := func(r *checkpoint.Record) {
		r.SetID("theirs_20260101")
		r.Doc().Set("created_at", "2026-01-01T00:00:00Z")
	}
	req := w.request(checkpoint.Manual, other)
	req.Keep = true
	saved := w.save(req)
	assert.Equal(t, checkpoint.ID("theirs_20260101"), saved.ID)
	at, _ := saved.Record.Doc().Get("created_at")
	assert.Equal(t, "2026-01-01T00:00:00Z", at)
	assert.Equal(t, "main", saved.Record.Branch())
	found, err := w.s.Find(ctx, saved.Issue, "theirs_20260101")
	require.NoError(t, err)
	assert.Equal(t, saved.Commit, found.Commit)

	none := w.request(checkpoint.Manual, func(r *checkpoint.Record) {
		r.SetID("")
		r.Doc().Delete("created_at")
		r.SetBranch("theirs")
	})
	none.Keep = true
	saved = w.save(none)
	assert.True(t, saved.ID.Own())
	assert.Equal(t, "theirs", saved.Record.Branch())
	assert.WithinDuration(t, saved.Created, saved.Record.CreatedAt(), time.Second)
	w.sound()
}

// Imported ids may be words with a special meaning. They are used once, and name their
// own checkpoint unless the word names the tip.
func TestImportedIDsWithSpecialMeaning(t *testing.T) {
	gittest.Slow(t)
	for _, id := range []checkpoint.ID{First, Latest, "latest~1", ":/text", "@{phase:ready}"} {
		w := newWorld(t)
		w.save(w.request(checkpoint.Manual))
		req := w.request(checkpoint.Manual, func(r *checkpoint.Record) { r.SetID(id) })
		req.Keep = true
		saved := w.save(req)
		w.save(w.request(checkpoint.Manual, func(r *checkpoint.Record) { r.SetNote("text") }))
		var taken *TakenError
		_, err := w.s.Save(ctx, req)
		require.ErrorAs(t, err, &taken, id)
		found, err := w.s.ByID(ctx, saved.Issue, id)
		require.NoError(t, err, id)
		assert.Equal(t, id, found.ID)
		if id == First {
			found, err = w.s.Find(ctx, saved.Issue, First)
			require.NoError(t, err)
			assert.Equal(t, id, found.ID)
		}
		_, err = w.s.Archive(ctx, saved.Issue, []checkpoint.ID{id}, retention.ReasonAsked)
		require.NoError(t, err)
		_, err = w.s.Save(ctx, req)
		require.ErrorAs(t, err, &taken, "%s in the archive", id)
	}
}
