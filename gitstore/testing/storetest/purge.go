package storetest

import (
	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (t *trial) purge(ids ...checkpoint.ID) {
	t.Helper()
	t.drop(ids...)
	_, err := t.Subject.(Purger).Purge(t.ctx, issue, ids)
	require.NoError(t, err)
}

func purgePromises() []Promise {
	return needing(purges, []Promise{
		{Name: "purge/what is left is as it was", hold: func(t *trial) {
			ids := t.chain(3)
			t.pin(ids[2], true)
			before := t.view()
			t.purge(ids[1])
			delete(before.texts, ids[1])
			before.list = append(before.list[:1], before.list[2])
			t.same(before)
		}},
		{Name: "purge/there is nothing to undo", needs: []ability{undoes}, hold: func(t *trial) {
			ids := t.chain(3)
			t.drop(ids[2])
			t.purge(ids[1])
			t.nothingToUndo()
			assert.Equal(t, ids[:1], t.live())
		}},
		{Name: "purge/a whole issue", hold: func(t *trial) {
			ids := t.chain(2)
			t.purge(ids...)
			assert.Empty(t, t.live())
			again := t.chain(2)
			assert.Equal(t, again, t.live())
		}},
		{Name: "purge/an id does not come again", hold: func(t *trial) {
			t.save(named(chosen))
			t.purge(chosen)
			t.taken(chosen, true)
		}},
		{Name: "purge/an emptied archive is forgotten", hold: func(t *trial) {
			ids := t.chain(2)
			t.archive(ids[1])
			t.purge(ids[1])
			issues, _, err := t.Issues(t.ctx, true)
			require.NoError(t, err)
			assert.Empty(t, issues)
		}},
	})
}
