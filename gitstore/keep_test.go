package gitstore

import (
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Imported ids may be words with a special meaning. They are used once, and name their
// own checkpoint unless the word names the tip or the oldest one.
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
			assert.NotEqual(t, id, found.ID)
		}
		_, err = w.s.Archive(ctx, saved.Issue, []checkpoint.ID{id}, retention.ReasonAsked)
		require.NoError(t, err)
		_, err = w.s.Save(ctx, req)
		require.ErrorAs(t, err, &taken, "%s in the archive", id)
	}
}
