package gitstore

import (
	"fmt"
	"runtime"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/retention"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// long creates a chain of n checkpoints for issue 42 in one move.
func (w *world) long(n int) []checkpoint.ID {
	w.t.Helper()
	first := w.save(w.request(checkpoint.Manual))
	c, err := w.s.chain.ReadChain(ctx, "42", LiveRef("42"), 0)
	require.NoError(w.t, err)
	k := w.s.repo.NewObjectWriter()
	model, ids := c.Commits[0].Raw, []checkpoint.ID{first.ID}
	r, err := w.s.Record(&c.Commits[0].Checkpoint)
	require.NoError(w.t, err)
	entries, err := trees.Read(w.s.repo.Objects, model.Tree)
	require.NoError(w.t, err)
	tip := model.Hash
	for i := 1; i < n; i++ {
		id := checkpoint.ID(fmt.Sprintf("CP-long-20260301T000000Z-%08x", i))
		r.SetID(id)
		r.SetClock(first.Clock + checkpoint.Clock(i))
		commit := repo.RawCommit{Tree: model.Tree, Parents: []plumbing.Hash{tip, model.Parents[1]}, Rest: model.Rest, Message: chain.EncodeMessage("42", r, nil)}
		tip = k.AddCommit(chain.Seal(commit, entries))
		ids = append(ids, id)
	}
	require.NoError(w.t, k.Flush(ctx))
	moves, err := w.s.chain.MovesTo(ctx, c, tip)
	require.NoError(w.t, err)
	require.NoError(w.t, w.s.repo.MoveRefs(ctx, "save: many", moves...))
	return ids
}

// The work of chain rewrites is linear: for ten times more checkpoints, the number and the size
// of allocations grow by about ten. The test is not parallel, because it counts the allocations
// of the whole process.
func TestRewritingIsLinear(t *testing.T) {
	gittest.SkipShort(t)
	used := map[int]map[string]allocated{}
	for _, n := range []int{500, 5000} {
		w := newWorld(t)
		ids := w.long(n)
		used[n] = map[string]allocated{}
		counted := func(name string, do func() error) {
			before := allocations()
			require.NoError(t, do())
			after := allocations()
			used[n][name] = allocated{after.objects - before.objects, after.bytes - before.bytes}
		}
		counted("drop half", func() error { return w.s.Drop(ctx, "42", ids[:n/2]) })
		counted("undo drop", func() error { _, err := w.s.Revert(ctx, "undo", Which{Issue: "42"}, nil); return err })
		counted("archive all", func() error { _, err := w.s.Archive(ctx, "42", ids, retention.ReasonAsked); return err })
		assert.Len(t, w.archived(), n)
		counted("undo archive", func() error { _, err := w.s.Revert(ctx, "undo", Which{Issue: "42"}, nil); return err })
		assert.Equal(t, ids, w.live())
		counted("find", func() error { _, err := w.s.Find(ctx, "42", string(ids[0])); return err })
		counted("save", func() error { w.save(w.request(checkpoint.Manual)); return nil })
	}
	for name, small := range used[500] {
		large := used[5000][name]
		t.Logf("%-12s %10d %10d objects %12d %12d bytes", name, small.objects, large.objects, small.bytes, large.bytes)
		assert.Less(t, large.objects, 15*small.objects, name)
		assert.Less(t, large.bytes, 15*small.bytes, name)
	}
}

// allocated is an amount of allocations.
type allocated struct{ objects, bytes uint64 }

// allocations returns the allocations of this process so far.
func allocations() allocated {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return allocated{m.Mallocs, m.TotalAlloc}
}
