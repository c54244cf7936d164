package storetest

import (
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (t *trial) undo(what string, ids ...checkpoint.ID) {
	t.Helper()
	done, err := t.Subject.(Undoer).Revert(t.ctx, "undo", gitstore.Which{Issue: issue}, nil)
	require.NoError(t, err)
	assert.Equal(t, what, done.What)
	assert.ElementsMatch(t, ids, done.IDs())
}

func (t *trial) nothingToUndo() {
	t.Helper()
	_, err := t.Subject.(Undoer).Revert(t.ctx, "undo", gitstore.Which{Issue: issue}, nil)
	require.ErrorIs(t, err, gitstore.ErrNothingToUndo)
}

func undoPromises() []Promise {
	return needing(undoes, []Promise{
		{Name: "undo/a drop", hold: func(t *trial) {
			ids := t.chain(4)
			t.pin(ids[2], true)
			before := t.view()
			t.drop(ids[1], ids[2])
			t.undo("drop", ids[1], ids[2])
			t.same(before)
		}},
		{Name: "undo/a prune", hold: func(t *trial) {
			ids := t.chain(4)
			before := t.view()
			t.prune(keepOne)
			t.undo("prune", ids[1:]...)
			t.same(before)
		}},
		{Name: "undo/what a save pruned stays pruned", hold: func(t *trial) {
			ids := t.chain(3)
			req := request(issue, checkpoint.Manual)
			req.Retention = keepOne
			saved := t.save(req)
			require.ElementsMatch(t, ids, saved.Pruned)
			t.nothingToUndo()
			assert.Equal(t, []checkpoint.ID{saved.ID}, t.live())
		}},
		{Name: "undo/a chain that was emptied", hold: func(t *trial) {
			ids := t.chain(3)
			before := t.view()
			t.drop(ids...)
			t.undo("drop", ids...)
			t.same(before)
		}},
		{Name: "undo/what was saved since stays", hold: func(t *trial) {
			ids := t.chain(2)
			t.drop(ids[1])
			later := t.manual().ID
			t.undo("drop", ids[1])
			assert.Equal(t, []checkpoint.ID{later, ids[0], ids[1]}, t.live())
		}},
		{Name: "undo/one after the other, the last first", hold: func(t *trial) {
			ids := t.chain(4)
			before := t.view()
			t.drop(ids[1])
			t.drop(ids[2])
			t.undo("drop", ids[2])
			t.undo("drop", ids[1])
			t.same(before)
			t.nothingToUndo()
		}},
		{Name: "undo/when the time went back", hold: func(t *trial) {
			ids := t.chain(2)
			t.pass(-2 * time.Hour)
			ids = append(t.chain(2), ids...)
			before := t.view()
			t.drop(ids[1:3]...)
			t.undo("drop", ids[1:3]...)
			t.same(before)
		}},
		{Name: "undo/nothing was removed", hold: func(t *trial) {
			t.chain(2)
			before := t.view()
			t.nothingToUndo()
			t.same(before)
		}},
		{Name: "undo/what was undone can be dropped again", hold: func(t *trial) {
			ids := t.chain(2)
			t.drop(ids[1])
			t.undo("drop", ids[1])
			t.drop(ids[1])
			assert.Equal(t, ids[:1], t.live())
			t.undo("drop", ids[1])
			assert.Equal(t, ids, t.live())
		}},
		{Name: "undo/issues are apart", hold: func(t *trial) {
			ids := t.chain(2)
			t.drop(ids[1])
			_, err := t.Subject.(Undoer).Revert(t.ctx, "undo", gitstore.Which{Issue: "43"}, nil)
			require.ErrorIs(t, err, gitstore.ErrNothingToUndo)
			t.undo("drop", ids[1])
		}},
		{Name: "undo/an archiving", hold: func(t *trial) {
			ids := t.chain(3)
			t.pin(ids[2], true)
			before := t.view()
			t.archive(ids[1:]...)
			t.undo("archive", ids[1:]...)
			t.same(before)
			assert.Empty(t, t.archived())
		}},
		{Name: "undo/a drop from the archive", hold: func(t *trial) {
			ids := t.chain(3)
			t.archive(ids[1:]...)
			before, archived := t.view(), idsOf(t.archived())
			t.drop(ids[1])
			t.undo("drop", ids[1])
			t.same(before)
			assert.Equal(t, archived, idsOf(t.archived()))
		}},
	})
}
