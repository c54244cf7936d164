package storetest

import (
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pinned returns the ids that a list marks as pinned.
func (t *trial) pinned() []checkpoint.ID {
	t.Helper()
	var ids []checkpoint.ID
	for _, c := range t.list(issue) {
		if c.Pinned {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func pinPromises() []Promise {
	return []Promise{
		{Name: "pin/a list shows it", hold: func(t *trial) {
			ids := t.chain(3)
			assert.Empty(t, t.pinned())
			t.pin(ids[1], true)
			assert.Equal(t, ids[1:2], t.pinned())
			assert.True(t, t.find(string(ids[1])).Pinned)
		}},
		{Name: "pin/it can be taken off", hold: func(t *trial) {
			ids := t.chain(3)
			t.pin(ids[1], true)
			t.pin(ids[2], true)
			t.pin(ids[1], false)
			assert.Equal(t, ids[2:], t.pinned())
		}},
		{Name: "pin/once more changes nothing", hold: func(t *trial) {
			ids := t.chain(2)
			t.pin(ids[1], true)
			for _, p := range []struct {
				id checkpoint.ID
				on bool
			}{{ids[1], true}, {ids[0], false}} {
				changed, err := t.Pin(t.ctx, issue, p.id, p.on)
				require.NoError(t, err)
				assert.False(t, changed)
			}
			assert.Equal(t, ids[1:], t.pinned())
		}},
		{Name: "pin/it stays when more is saved", hold: func(t *trial) {
			ids := t.chain(2)
			t.pin(ids[0], true)
			t.chain(2)
			assert.Equal(t, ids[:1], t.pinned())
		}},
		{Name: "pin/it stays when others are dropped", hold: func(t *trial) {
			ids := t.chain(3)
			t.pin(ids[1], true)
			t.drop(ids[0], ids[2])
			assert.Equal(t, ids[1:2], t.pinned())
		}},
		{Name: "pin/the record stays as it was", hold: func(t *trial) {
			ids := t.chain(3)
			before := t.bytes(t.list(issue))
			t.pin(ids[1], true)
			assert.Equal(t, ids, t.live())
			assert.Equal(t, before, t.bytes(t.list(issue)))
		}},
		{Name: "pin/what is not there is not found", hold: func(t *trial) {
			t.chain(2)
			before := t.view()
			for _, on := range []bool{true, false} {
				_, err := t.Pin(t.ctx, issue, first, on)
				var notFound *gitstore.NotFoundError
				require.ErrorAs(t, err, &notFound)
			}
			t.same(before)
		}},
		{Name: "pin/what was dropped is not found", hold: func(t *trial) {
			ids := t.chain(2)
			t.drop(ids[1])
			_, err := t.Pin(t.ctx, issue, ids[1], true)
			require.ErrorAs(t, err, new(*gitstore.NotFoundError))
		}},
		{Name: "pin/an archived one, too", hold: func(t *trial) {
			ids := t.chain(3)
			t.archive(ids[2])
			t.pin(ids[2], true)
			assert.True(t, t.archived()[0].Pinned)
			assert.Empty(t, t.pinned())
		}},
	}
}
