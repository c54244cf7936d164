package storetest

import (
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func dropPromises() []Promise {
	return []Promise{
		{Name: "drop/it is gone", hold: func(t *trial) {
			ids := t.chain(3)
			t.drop(ids[1])
			assert.Equal(t, []checkpoint.ID{ids[0], ids[2]}, t.live())
			t.missing(ids[1])
		}},
		{Name: "drop/the records above and below stay as they were", hold: func(t *trial) {
			ids := t.chain(5)
			t.pin(ids[4], true)
			before := t.view()
			t.drop(ids[1], ids[3])
			delete(before.texts, ids[1])
			delete(before.texts, ids[3])
			before.list = []gitstore.Checkpoint{before.list[0], before.list[2], before.list[4]}
			t.same(before)
		}},
		{Name: "drop/without the tip the one before is the latest", hold: func(t *trial) {
			ids := t.chain(3)
			t.drop(ids[0])
			assert.Equal(t, ids[1], t.find(gitstore.Latest).ID)
			t.manual()
			n, _ := t.record(t.find(gitstore.Latest)).Doc().Get("n")
			assert.Equal(t, checkpoint.Int(1), n, "the next save starts from it")
		}},
		{Name: "drop/all of them leave nothing", hold: func(t *trial) {
			t.drop(t.chain(3)...)
			assert.Empty(t, t.live())
			_, err := t.Find(t.ctx, issue, gitstore.Latest)
			require.ErrorAs(t, err, new(*gitstore.NoneError))
		}},
		{Name: "drop/a pinned one goes when it is named", hold: func(t *trial) {
			ids := t.chain(2)
			t.pin(ids[1], true)
			t.drop(ids[1])
			assert.Equal(t, ids[:1], t.live())
		}},
		{Name: "drop/several together or not at all", hold: func(t *trial) {
			ids := t.chain(3)
			before := t.view()
			err := t.Drop(t.ctx, issue, []checkpoint.ID{ids[1], first})
			var notFound *gitstore.NotFoundError
			require.ErrorAs(t, err, &notFound)
			assert.Equal(t, gitstore.NotFoundError{Issue: issue, Name: string(first)}, *notFound)
			t.same(before)
		}},
		{Name: "drop/what is gone is not found", hold: func(t *trial) {
			ids := t.chain(2)
			t.drop(ids[1])
			require.ErrorAs(t, t.Drop(t.ctx, issue, ids[1:]), new(*gitstore.NotFoundError))
		}},
		{Name: "drop/nothing is not found in an issue without checkpoints", hold: func(t *trial) {
			require.ErrorAs(t, t.Drop(t.ctx, issue, []checkpoint.ID{first}), new(*gitstore.NotFoundError))
			issues, _, err := t.Issues(t.ctx, false)
			require.NoError(t, err)
			assert.Empty(t, issues)
		}},
		{Name: "drop/other issues stay as they were", hold: func(t *trial) {
			other := t.save(request("43", checkpoint.Manual))
			t.drop(t.chain(2)...)
			assert.Equal(t, []checkpoint.ID{other.ID}, idsOf(t.list("43")))
		}},
		{Name: "drop/by a whole id alone", hold: func(t *trial) {
			t.three()
			require.ErrorAs(t, t.Drop(t.ctx, issue, []checkpoint.ID{"1111aaaa"}), new(*gitstore.NotFoundError))
			assert.Len(t, t.live(), 3)
		}},
	}
}
