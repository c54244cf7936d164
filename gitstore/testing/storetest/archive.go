package storetest

import (
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// archive moves checkpoints of the issue to the archive, all if ids is empty.
func (t *trial) archive(ids ...checkpoint.ID) []checkpoint.ID {
	t.Helper()
	moved, err := t.Archive(t.ctx, issue, ids, retention.ReasonAsked)
	require.NoError(t, err)
	return moved
}

func (t *trial) archived() []gitstore.Checkpoint {
	t.Helper()
	l, err := t.Archived(t.ctx, issue, 0)
	require.NoError(t, err)
	return l.Checkpoints
}

func archivePromises() []Promise {
	return []Promise{
		{Name: "archive/it leaves the chain", hold: func(t *trial) {
			ids := t.chain(3)
			assert.Equal(t, ids[1:2], t.archive(ids[1]))
			assert.Equal(t, []checkpoint.ID{ids[0], ids[2]}, t.live())
			assert.Equal(t, ids[1:2], idsOf(t.archived()))
		}},
		{Name: "archive/the whole chain when none is named", hold: func(t *trial) {
			ids := t.chain(3)
			assert.ElementsMatch(t, ids, t.archive())
			assert.Empty(t, t.live())
			assert.Equal(t, ids, idsOf(t.archived()))
		}},
		{Name: "archive/records stay as they were", hold: func(t *trial) {
			ids := t.chain(4)
			before := t.bytes(t.list(issue))
			t.archive(ids[1], ids[2])
			assert.Equal(t, before, t.bytes(append(t.list(issue), t.archived()...)))
		}},
		{Name: "archive/its order is that of the saves", hold: func(t *trial) {
			ids := t.chain(4)
			t.archive(ids[1])
			t.archive(ids[3])
			t.archive(ids[2])
			assert.Equal(t, ids[1:], idsOf(t.archived()))
		}},
		{Name: "archive/it says why and when", hold: func(t *trial) {
			ids := t.chain(2)
			t.pass(time.Hour)
			_, err := t.Archive(t.ctx, issue, ids[1:], retention.ReasonFailed)
			require.NoError(t, err)
			c := t.archived()[0]
			assert.True(t, c.Archived)
			assert.Equal(t, retention.ReasonFailed, c.Filed.Why)
			assert.Equal(t, t.clock.Load(), c.Filed.At.Unix())
		}},
		{Name: "archive/a pin goes with it", hold: func(t *trial) {
			ids := t.chain(2)
			t.pin(ids[1], true)
			t.archive(ids[1])
			assert.True(t, t.archived()[0].Pinned)
		}},
		{Name: "archive/several together or not at all", hold: func(t *trial) {
			ids := t.chain(2)
			before := t.view()
			_, err := t.Archive(t.ctx, issue, []checkpoint.ID{ids[1], first}, retention.ReasonAsked)
			require.ErrorAs(t, err, new(*gitstore.NotFoundError))
			t.same(before)
			assert.Empty(t, t.archived())
		}},
		{Name: "archive/an issue without checkpoints has none", hold: func(t *trial) {
			_, err := t.Archive(t.ctx, issue, nil, retention.ReasonAsked)
			require.ErrorAs(t, err, new(*gitstore.NoneError))
		}},
		{Name: "archive/an archived one can be dropped", hold: func(t *trial) {
			ids := t.chain(3)
			t.archive(ids[1:]...)
			t.drop(ids[2])
			assert.Equal(t, ids[1:2], idsOf(t.archived()))
			t.missing(ids[2])
		}},
		{Name: "archive/the latest is never an archived one", hold: func(t *trial) {
			t.chain(2)
			t.archive()
			_, err := t.Find(t.ctx, issue, gitstore.Latest)
			require.ErrorAs(t, err, new(*gitstore.NoneError))
		}},
		{Name: "archive/after a whole chain went there the next save starts anew", hold: func(t *trial) {
			t.manual(set("old", "state"))
			t.archive()
			saved := t.manual(set("new", "state"))
			assert.Empty(t, saved.Record.Doc().Text("old"))
			assert.Equal(t, []checkpoint.ID{saved.ID}, t.live())
		}},
		{Name: "archive/its issues are listed", hold: func(t *trial) {
			t.chain(1)
			t.save(request("43", checkpoint.Manual))
			t.archive()
			issues, _, err := t.Issues(t.ctx, true)
			require.NoError(t, err)
			assert.Equal(t, []checkpoint.Issue{issue}, issues)
		}},
	}
}

// needing returns list with an additional required ability.
func needing(a ability, list []Promise) []Promise {
	for k := range list {
		list[k].needs = append(list[k].needs, a)
	}
	return list
}
