package gitstore

import (
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A manual reset of the ref does not revert a drop: the checkpoint is dropped again
// before any other change. Undo reverts the newest removal.
func TestUndoAfterAReset(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.manual(3)
	require.NoError(t, w.s.Drop(ctx, "42", ids[:1]))
	before := w.Git("rev-parse", LiveRef("42"))
	require.NoError(t, w.s.Drop(ctx, "42", ids[1:2]))
	w.Git("update-ref", "-m", "by hand", LiveRef("42"), before)
	for n, left := range [][]checkpoint.ID{ids[1:], ids} {
		done, err := w.s.Revert(ctx, "undo", Which{Issue: "42"}, nil)
		require.NoError(t, err)
		assert.Equal(t, ids[1-n:2-n], done.IDs())
		assert.Equal(t, left, w.live())
	}
}

// Undo reverts each removal only once, even after a manual move of the ref.
func TestUndoRevertsRemovalOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.manual(2)
	require.NoError(t, w.s.Drop(ctx, "42", ids[:1]))
	without := w.Git("rev-parse", LiveRef("42"))
	_, err := w.s.Revert(ctx, "undo", Which{Issue: "42"}, nil)
	require.NoError(t, err)
	w.Git("update-ref", "-m", "by hand", LiveRef("42"), without)
	_, err = w.s.Revert(ctx, "undo", Which{Issue: "42"}, nil)
	require.ErrorIs(t, err, ErrNothingToUndo)
}
