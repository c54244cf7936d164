package storetest

import (
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func listPromises() []Promise {
	return []Promise{
		{Name: "list/newest first", hold: func(t *trial) {
			ids := t.chain(4)
			assert.Equal(t, ids, t.live())
		}},
		{Name: "list/another handle sees the same", hold: func(t *trial) {
			ids := t.chain(2)
			l, err := t.Open().List(t.ctx, issue, 0)
			require.NoError(t, err)
			assert.Equal(t, ids, idsOf(l.Checkpoints))
		}},
		{Name: "list/the newest so many", hold: func(t *trial) {
			ids := t.chain(4)
			for limit, want := range map[int][]checkpoint.ID{1: ids[:1], 3: ids[:3], 4: ids, 9: ids, 0: ids} {
				l, err := t.List(t.ctx, issue, limit)
				require.NoError(t, err)
				assert.Equal(t, want, idsOf(l.Checkpoints), "%d", limit)
			}
		}},
		{Name: "list/it says whether older ones are left", hold: func(t *trial) {
			t.chain(3)
			for limit, want := range map[int]bool{0: true, 2: false, 9: true} {
				l, err := t.List(t.ctx, issue, limit)
				require.NoError(t, err)
				assert.Equal(t, want, l.Complete, "%d", limit)
			}
		}},
		{Name: "list/nothing is an empty list", hold: func(t *trial) {
			l, err := t.List(t.ctx, "nothing here", 0)
			require.NoError(t, err)
			assert.Empty(t, l.Checkpoints)
			assert.True(t, l.Complete)
		}},
		{Name: "list/it tells what the record says", hold: func(t *trial) {
			saved := t.save(request(issue, checkpoint.BatchComplete, phase("review"), note("half of it"),
				func(r *checkpoint.Record) { r.SetCanResume(false) }))
			c := t.list(issue)[0]
			c.Commit, c.Tree, c.Author, c.After, c.Content = plumbing.ZeroHash, plumbing.ZeroHash, "", "", ""
			assert.Equal(t, gitstore.Checkpoint{
				ID: saved.ID, Issue: issue, Trigger: checkpoint.BatchComplete, Phase: "review", Branch: saved.Record.Branch(),
				Clock: saved.Record.Clock(), Stated: saved.Record.Clock(), Scope: "whole", Version: checkpoint.Version, Note: "half of it",
				Created: time.Unix(t.clock.Load(), 0).UTC(), Saved: time.Unix(t.clock.Load(), 0).UTC(),
			}, c)
		}},
		{Name: "list/the order is that of the saves when the time goes back", hold: func(t *trial) {
			a := t.manual().ID
			t.pass(-3 * time.Hour)
			b := t.manual().ID
			t.pass(6 * time.Hour)
			c := t.manual().ID
			assert.Equal(t, []checkpoint.ID{c, b, a}, t.live())
		}},
		{Name: "list/clocks rise when the time goes back", hold: func(t *trial) {
			t.chain(2)
			t.pass(-3 * time.Hour)
			t.chain(2)
			list := t.list(issue)
			for k := range list[1:] {
				assert.Greater(t, list[k].Clock, list[k+1].Clock)
			}
		}},
		{Name: "list/the tip is the latest", hold: func(t *trial) {
			for range 3 {
				saved := t.manual()
				assert.Equal(t, saved.ID, t.find(gitstore.Latest).ID)
				assert.Equal(t, saved.ID, t.list(issue)[0].ID)
			}
		}},
		{Name: "list/issues are apart", hold: func(t *trial) {
			a, b := t.save(request("42", checkpoint.Manual)), t.save(request("420", checkpoint.Manual))
			assert.Equal(t, []checkpoint.ID{a.ID}, idsOf(t.list("42")))
			assert.Equal(t, []checkpoint.ID{b.ID}, idsOf(t.list("420")))
		}},
		{Name: "list/what it gave is the caller's", hold: func(t *trial) {
			t.chain(2)
			before, given := t.view(), t.list(issue)
			given[0].ID, given[0], given[1] = "changed", given[1], given[0]
			t.same(before)
		}},
	}
}
