package gitstore

import (
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What another system's record says of itself stays, what it leaves out is
// filled in, and its id is used once.
func TestKeep(t *testing.T) {
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

	_, err = w.s.Save(ctx, req)
	var taken *TakenError
	require.ErrorAs(t, err, &taken)
	assert.False(t, taken.Dropped)
	require.NoError(t, w.s.Drop(ctx, saved.Issue, []checkpoint.ID{saved.ID}))
	_, err = w.s.Save(ctx, req)
	require.ErrorAs(t, err, &taken)
	assert.True(t, taken.Dropped)

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
