package storetest

import (
	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// there returns the ids of a peer's chain, newest first.
func (t *trial) there(s Subject) []checkpoint.ID {
	t.Helper()
	l, err := s.List(t.ctx, issue, 0)
	require.NoError(t, err)
	return idsOf(l.Checkpoints)
}

func peerPromises() []Promise {
	return needing(shares, []Promise{
		{Name: "peer/what was saved here is there", hold: func(t *trial) {
			peer := t.Peer()
			ids := t.chain(3)
			before := t.view()
			t.Meet()
			assert.Equal(t, ids, t.there(peer))
			t.same(before)
		}},
		{Name: "peer/what was saved on both sides is on both", hold: func(t *trial) {
			peer := t.Peer()
			ids := t.chain(2)
			t.Meet()
			here := t.manual(set("here", "yes")).ID
			got, err := peer.Save(t.ctx, request(issue, checkpoint.Manual, set("there", "yes")))
			require.NoError(t, err)
			t.Meet()
			assert.Equal(t, t.live(), t.there(peer))
			assert.Subset(t, t.live(), append(ids, here, got.ID))
		}},
		{Name: "peer/what was dropped does not come back", hold: func(t *trial) {
			peer := t.Peer()
			ids := t.chain(3)
			t.Meet()
			t.drop(ids[1])
			_, err := peer.Save(t.ctx, request(issue, checkpoint.Manual))
			require.NoError(t, err)
			t.Meet()
			assert.NotContains(t, t.live(), ids[1])
			assert.Equal(t, t.live(), t.there(peer))
		}},
		{Name: "peer/a pin travels", hold: func(t *trial) {
			peer := t.Peer()
			ids := t.chain(2)
			t.Meet()
			t.pin(ids[1], true)
			t.Meet()
			c, err := peer.Find(t.ctx, issue, string(ids[1]))
			require.NoError(t, err)
			assert.True(t, c.Pinned)
		}},
		{Name: "peer/what was archived is archived there", hold: func(t *trial) {
			peer := t.Peer()
			ids := t.chain(2)
			t.Meet()
			t.archive(ids[1])
			t.Meet()
			assert.Equal(t, ids[:1], t.there(peer))
			c, err := peer.Find(t.ctx, issue, string(ids[1]))
			require.NoError(t, err)
			assert.True(t, c.Archived)
		}},
		{Name: "peer/once more changes nothing", hold: func(t *trial) {
			peer := t.Peer()
			t.chain(2)
			t.Meet()
			before := t.view()
			t.Meet()
			t.same(before)
			assert.Equal(t, t.live(), t.there(peer))
		}},
	})
}
