package gitstore

import (
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const day = 24 * time.Hour

// byAge prunes with age limits only.
func (w *world) byAge(change ...func(*PruneRequest)) *Pruned {
	w.t.Helper()
	req := PruneRequest{Issue: "42", Stay: &retention.Stay{Completed: 7, Other: 30}}
	for _, f := range change {
		f(&req)
	}
	done, err := w.s.Prune(ctx, req)
	require.NoError(w.t, err)
	return done
}

func (w *world) archive(why retention.Reason, ids ...checkpoint.ID) {
	w.t.Helper()
	_, err := w.s.Archive(ctx, "42", ids, why)
	require.NoError(w.t, err)
}

// Archived checkpoints expire after a time that depends on their reason. Undo restores
// checkpoints and reasons.
func TestArchiveExpires(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.manual(5)
	_, err := w.s.Pin(ctx, "42", ids[2], true)
	require.NoError(t, err)
	w.archive(retention.ReasonCompleted, ids[0], ids[2])
	w.archive(retention.ReasonFailed, ids[1])
	assert.Empty(t, w.byAge().Expired)
	w.now = w.now.Add(8 * day)
	dry := w.byAge(func(r *PruneRequest) { r.DryRun = true })
	assert.Equal(t, ids[:1], dry.Expired)
	assert.Equal(t, ids[:3], w.archived(), "a dry run")
	done := w.byAge(func(r *PruneRequest) { r.Plan = dry.Plan })
	assert.Equal(t, ids[:1], done.Expired)
	assert.Empty(t, done.Removed)
	assert.Equal(t, ids[1:3], w.archived(), "the pin beats the age")
	assert.Equal(t, ids[3:], w.live())
	w.sound()

	w.now = w.now.Add(30 * day)
	assert.Equal(t, ids[1:2], w.byAge().Expired)
	assert.Empty(t, w.byAge().Expired)
	assert.Equal(t, ids[2:3], w.archived())
	undone, err := w.s.Revert(ctx, "undo", Which{Issue: "42"}, nil)
	require.NoError(t, err)
	assert.Equal(t, "prune", undone.What)
	assert.Equal(t, ids[1:2], undone.IDs())
	undone, err = w.s.Revert(ctx, "undo", Which{Issue: "42"}, nil)
	require.NoError(t, err)
	assert.Equal(t, ids[:1], undone.IDs())
	l, err := w.s.Archived(ctx, "42", 0)
	require.NoError(t, err)
	require.Len(t, l.Checkpoints, 3)
	assert.Equal(t, retention.ReasonCompleted, l.Checkpoints[2].Filed.Why)
	w.sound()
}

// One prune removes live and archived checkpoints, and one undo restores all of them.
func TestPruneLiveAndArchived(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.manual(4)
	w.archive(retention.ReasonCompleted, ids[0])
	w.now = w.now.Add(8 * day)
	done := w.byAge(func(r *PruneRequest) { r.Policy = retention.Policy{checkpoint.Manual: {Keep: 1}} })
	assert.Equal(t, []checkpoint.ID{ids[2], ids[1]}, done.Removed)
	assert.Equal(t, ids[:1], done.Expired)
	assert.Equal(t, ids[3:], w.live())
	assert.Empty(t, w.archived())
	_, err := w.s.Revert(ctx, "undo", Which{Issue: "42"}, nil)
	require.NoError(t, err)
	assert.Equal(t, ids[1:], w.live())
	assert.Equal(t, ids[:1], w.archived())
	w.sound()
}

// Expired checkpoints disappear from the archives of all clones.
func TestExpiryIsShared(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	a, b, hub, ids := pair(t, 3)
	a.archive(retention.ReasonCompleted, ids[:2]...)
	meet(t, hub, a, b)
	require.Equal(t, ids[:2], b.archived())
	b.now = b.now.Add(8 * day)
	require.Len(t, b.byAge().Expired, 2)
	meet(t, hub, a, b)
	assert.Empty(t, a.archived())
	assert.Equal(t, ids[2:], a.live())
}

// Prune applies the rules for the newest checkpoint's layout.
func TestPruneAppliesLayoutRules(t *testing.T) {
	t.Parallel()
	layout := func(name string) func(*checkpoint.Record) {
		return func(r *checkpoint.Record) { r.Doc().Set("layout", map[string]any{"name": name}) }
	}
	rules := func(r *PruneRequest) {
		r.Layouts = map[string]LayoutRules{"claude": {MaxAge: 7}, "dotagent": {Last: 2}}
	}
	w := newWorld(t)
	w.save(w.request(checkpoint.Manual, layout("recovery")))
	w.now = w.now.Add(8 * day)
	assert.False(t, w.byAge(rules).Archived)
	w.save(w.request(checkpoint.Manual, layout("claude")))
	w.now = w.now.Add(7 * day)
	assert.False(t, w.byAge(rules).Archived)
	w.now = w.now.Add(time.Second)
	assert.True(t, w.byAge(rules).Archived)
	assert.Len(t, w.archived(), 2)

	w = newWorld(t)
	var ids []checkpoint.ID
	for range 4 {
		ids = append(ids, w.save(w.request(checkpoint.Manual, layout("dotagent"))).ID)
		w.archive(retention.ReasonCompleted, ids[len(ids)-1])
		w.now = w.now.Add(20 * day)
	}
	assert.Equal(t, []checkpoint.ID{ids[1], ids[0]}, w.byAge(rules).Expired)
	assert.Equal(t, ids[2:], w.archived())
}
