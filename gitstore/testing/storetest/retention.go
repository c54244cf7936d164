package storetest

import (
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// keepOne keeps the newest manual checkpoint. keepNone keeps no manual checkpoint.
var (
	keepOne  = retention.Policy{checkpoint.Manual: {Keep: 1}}
	keepNone = retention.Policy{checkpoint.Manual: {Keep: 0}}
)

func (t *trial) prune(p retention.Policy) *gitstore.Pruned {
	t.Helper()
	pruned, err := t.Prune(t.ctx, gitstore.PruneRequest{Issue: issue, Policy: p})
	require.NoError(t, err)
	return pruned
}

func retentionPromises() []Promise {
	return append(planPromises(), []Promise{
		{Name: "retention/the newest so many stay", hold: func(t *trial) {
			ids := t.chain(5)
			pruned := t.prune(retention.Policy{checkpoint.Manual: {Keep: 2}})
			assert.ElementsMatch(t, ids[2:], pruned.Removed)
			assert.Equal(t, ids[:2], t.live())
		}},
		{Name: "retention/each phase counts by itself where it is told so", hold: func(t *trial) {
			var ids []checkpoint.ID
			for _, p := range []string{"a", "a", "b", "b"} {
				ids = append(ids, t.manual(phase(p)).ID)
			}
			t.prune(retention.Policy{checkpoint.Manual: {Keep: 1, PerPhase: true}})
			assert.Equal(t, []checkpoint.ID{ids[3], ids[1]}, t.live())
		}},
		{Name: "retention/the tip stays whatever the policy says", hold: func(t *trial) {
			ids := t.chain(3)
			t.prune(keepNone)
			assert.Equal(t, ids[:1], t.live())
		}},
		{Name: "retention/the newest that can be resumed stays", hold: func(t *trial) {
			cannot := func(r *checkpoint.Record) { r.SetCanResume(false) }
			t.manual()
			good := t.manual().ID
			t.manual(cannot)
			tip := t.manual(cannot).ID
			t.prune(keepNone)
			assert.Equal(t, []checkpoint.ID{tip, good}, t.live())
		}},
		{Name: "retention/what is pinned stays", hold: func(t *trial) {
			ids := t.chain(4)
			t.pin(ids[2], true)
			t.prune(keepOne)
			assert.Equal(t, []checkpoint.ID{ids[0], ids[2]}, t.live())
		}},
		{Name: "retention/what is pinned no more goes", hold: func(t *trial) {
			ids := t.chain(3)
			t.pin(ids[2], true)
			t.pin(ids[2], false)
			t.prune(keepOne)
			assert.Equal(t, ids[:1], t.live())
		}},
		{Name: "retention/a trigger without a rule stays", hold: func(t *trial) {
			odd := t.save(request(issue, "made_up")).ID
			ids := t.chain(2)
			pruned := t.prune(keepOne)
			assert.Equal(t, []checkpoint.ID{ids[0], odd}, t.live())
			assert.NotEmpty(t, pruned.Warnings)
		}},
		{Name: "retention/once more drops nothing", hold: func(t *trial) {
			t.chain(4)
			t.prune(keepOne)
			before := t.view()
			assert.Empty(t, t.prune(keepOne).Removed)
			t.same(before)
		}},
		{Name: "retention/what stays is as it was", hold: func(t *trial) {
			ids := t.chain(5)
			t.pin(ids[3], true)
			before := t.bytes(t.list(issue))
			t.prune(retention.Policy{checkpoint.Manual: {Keep: 2}})
			for id, text := range t.bytes(t.list(issue)) {
				assert.Equal(t, before[id], text)
			}
		}},
		{Name: "retention/with a save", hold: func(t *trial) {
			ids := t.chain(3)
			t.pin(ids[2], true)
			req := request(issue, checkpoint.Manual)
			req.Retention = keepOne
			saved := t.save(req)
			assert.ElementsMatch(t, ids[:2], saved.Pruned)
			assert.Equal(t, []checkpoint.ID{saved.ID, ids[2]}, t.live())
		}},
		{Name: "retention/a save without a policy drops nothing", hold: func(t *trial) {
			ids := t.chain(4)
			saved := t.manual()
			assert.Empty(t, saved.Pruned)
			assert.Len(t, t.live(), len(ids)+1)
		}},
		{Name: "retention/an issue without checkpoints has nothing to prune", hold: func(t *trial) {
			pruned := t.prune(keepNone)
			assert.Empty(t, pruned.Decisions)
			assert.Empty(t, pruned.Removed)
		}},
	}...)
}

// planPromises are promises about retention decisions before they are applied.
func planPromises() []Promise {
	return []Promise{
		{Name: "retention/every checkpoint has one decision and its rule", hold: func(t *trial) {
			ids := t.chain(3)
			pruned := t.prune(keepOne)
			require.Len(t, pruned.Decisions, 3)
			for k, d := range pruned.Decisions {
				assert.Equal(t, ids[k], d.ID)
				assert.Equal(t, k == 0, d.Keep)
				assert.NotEmpty(t, d.Rule)
			}
		}},
		{Name: "retention/a dry run tells and changes nothing", hold: func(t *trial) {
			ids := t.chain(3)
			before := t.view()
			told, err := t.Prune(t.ctx, gitstore.PruneRequest{Issue: issue, Policy: keepOne, DryRun: true})
			require.NoError(t, err)
			assert.ElementsMatch(t, ids[1:], told.Removed)
			t.same(before)
			assert.Equal(t, told, t.prune(keepOne))
		}},
		{Name: "retention/a plan is carried out as it was told", hold: func(t *trial) {
			ids := t.chain(3)
			told, err := t.Prune(t.ctx, gitstore.PruneRequest{Issue: issue, Policy: keepOne, DryRun: true})
			require.NoError(t, err)
			_, err = t.Prune(t.ctx, gitstore.PruneRequest{Issue: issue, Policy: keepOne, Plan: told.Plan})
			require.NoError(t, err)
			assert.Equal(t, ids[:1], t.live())
		}},
		{Name: "retention/a plan that is out of date is refused", hold: func(t *trial) {
			t.chain(3)
			told, err := t.Prune(t.ctx, gitstore.PruneRequest{Issue: issue, Policy: keepOne, DryRun: true})
			require.NoError(t, err)
			t.chain(1)
			before := t.view()
			_, err = t.Prune(t.ctx, gitstore.PruneRequest{Issue: issue, Policy: keepOne, Plan: told.Plan})
			require.ErrorAs(t, err, new(*gitstore.RefusedError))
			t.same(before)
		}},
	}
}
