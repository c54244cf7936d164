package storetest

import (
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const day = 24 * time.Hour

// aged prunes checkpoints that are older than a number of days.
func (t *trial) aged(days int) *gitstore.Pruned {
	t.Helper()
	pruned, err := t.Prune(t.ctx, gitstore.PruneRequest{Issue: issue, MaxAge: days})
	require.NoError(t, err)
	return pruned
}

// expire prunes the archive by the retention times s.
func (t *trial) expire(s retention.Stay) *gitstore.Pruned {
	t.Helper()
	pruned, err := t.Prune(t.ctx, gitstore.PruneRequest{Issue: issue, Stay: &s})
	require.NoError(t, err)
	return pruned
}

func agePromises() []Promise {
	return []Promise{
		{Name: "age/an old chain is archived as a whole", hold: func(t *trial) {
			ids := t.chain(2)
			t.pass(7*day + time.Second)
			assert.True(t, t.aged(7).Archived)
			assert.Empty(t, t.live())
			assert.Equal(t, ids, idsOf(t.archived()))
			assert.Equal(t, retention.ReasonAged, t.archived()[0].Filed.Why)
		}},
		{Name: "age/exactly so many days are not older", hold: func(t *trial) {
			ids := t.chain(2)
			t.pass(7 * day)
			assert.Empty(t, t.aged(7).Removed)
			assert.Equal(t, ids, t.live())
		}},
		{Name: "age/one new checkpoint keeps all", hold: func(t *trial) {
			t.chain(2)
			t.pass(30 * day)
			t.chain(1)
			assert.Empty(t, t.aged(7).Removed)
			assert.Len(t, t.live(), 3)
		}},
		{Name: "age/one pin keeps all", hold: func(t *trial) {
			ids := t.chain(2)
			t.pin(ids[1], true)
			t.pass(30 * day)
			t.aged(7)
			assert.Equal(t, ids, t.live())
		}},
		{Name: "age/a closed issue is archived as a whole", hold: func(t *trial) {
			ids := t.chain(2)
			pruned, err := t.Prune(t.ctx, gitstore.PruneRequest{Issue: issue, Closed: true})
			require.NoError(t, err)
			assert.True(t, pruned.Archived)
			assert.Equal(t, ids, idsOf(t.archived()))
			assert.Equal(t, retention.ReasonCompleted, t.archived()[0].Filed.Why)
		}},
		{Name: "age/archived ones go after their time", hold: func(t *trial) {
			ids := t.chain(2)
			t.archive(ids[1])
			t.pass(3*day + time.Second)
			assert.Equal(t, ids[1:], t.expire(retention.Stay{Completed: 9, Other: 3}).Expired)
			assert.Empty(t, t.archived())
			t.missing(ids[1])
		}},
		{Name: "age/archived ones stay until then", hold: func(t *trial) {
			ids := t.chain(2)
			t.archive(ids[1])
			t.pass(3*day - time.Minute)
			assert.Empty(t, t.expire(retention.Stay{Completed: 9, Other: 3}).Expired)
			assert.Equal(t, ids[1:], idsOf(t.archived()))
		}},
		{Name: "age/archived ones that are pinned stay", hold: func(t *trial) {
			ids := t.chain(2)
			t.pin(ids[1], true)
			t.archive(ids[1])
			t.pass(30 * day)
			t.expire(retention.Stay{Completed: 9, Other: 3})
			assert.Equal(t, ids[1:], idsOf(t.archived()))
		}},
		{Name: "age/one that expired does not come again", hold: func(t *trial) {
			t.save(named(chosen))
			t.chain(1)
			t.archive(chosen)
			t.pass(30 * day)
			require.Equal(t, []checkpoint.ID{chosen}, t.expire(retention.Stay{}).Expired)
			t.taken(chosen, true)
		}},
	}
}
