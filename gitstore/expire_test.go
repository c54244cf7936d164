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
