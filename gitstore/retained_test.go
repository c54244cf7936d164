package gitstore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Dropped checkpoints appear in the reflog, with one move of the ref.
func TestDroppedCheckpointsAreInReflog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.now = time.Now() // git gc expires by its own clock
	p := retention.Policy{checkpoint.Interval: {Keep: 1}}
	first := w.thinned(checkpoint.Interval, p)
	second := w.thinned(checkpoint.Interval, p)
	assert.Equal(t, []checkpoint.ID{first.ID}, second.Pruned)
	log := strings.Split(w.Git("log", "-g", "--format=%gs", "refs/checkpoints/42"), "\n")
	assert.Equal(t, []string{
		fmt.Sprintf("save: %s; prune: %s", second.ID, first.ID), "save: " + string(first.ID),
	}, log)
	w.Git("gc", "-q", "--prune=now")
	c, err := w.s.Find(ctx, "42", first.Commit.String())
	require.ErrorAs(t, err, new(*NotFoundError), "%v", c)
	_, err = w.s.Revert(ctx, "undo", Which{Issue: "42"}, nil)
	require.ErrorIs(t, err, ErrNothingToUndo)
	assert.Equal(t, []checkpoint.ID{second.ID}, w.live())
	w.sound()
}

// Ledgers list pruned ids only if another clone may restore them.
func TestPrunedLedgerOnlyForFetchedChains(t *testing.T) {
	t.Parallel()
	p := retention.Policy{checkpoint.Interval: {Keep: 1}}
	w := newWorld(t)
	w.thinned(checkpoint.Interval, p)
	second := w.thinned(checkpoint.Interval, p)
	assert.False(t, w.has(second, "ledger"))

	w.Git("push", "-q", ".", "refs/checkpoints/42:refs/checkpoints/43") // as plain git does
	req := w.request(checkpoint.Interval)
	req.Issue, req.Retention = "43", p
	saved := w.save(req)
	assert.Equal(t, []checkpoint.ID{second.ID}, saved.Pruned)
	ledger := w.Git("cat-file", "blob", saved.Commit.String()+":ledger")
	assert.Equal(t, fmt.Sprintf("set pruned %s %d %s", second.ID, saved.Clock, second.After), ledger)
}

// If two commits have equal ids, dropping one would drop both, so both stay. The one of this clone
// is the checkpoint.
func TestDuplicateIDIsNotDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := retention.Policy{checkpoint.Interval: {Keep: 1}}
	w.thinned(checkpoint.Interval, p)
	tip := LiveRef("42")
	w.onTop(tip+"^{tree}", message(w, tip), tip, tip+"^2")
	pruned, err := w.s.Prune(ctx, PruneRequest{Issue: "42", Policy: p})
	require.NoError(t, err)
	assert.Empty(t, pruned.Removed)
	assert.Len(t, w.live(), 1)
	assert.Len(t, mustRead(t, w).Commits, 2)
}

// Prune reports the progress of a chain rewrite.
func TestPruneReportsProgress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.long(300)
	var told [][2]int
	done, err := w.s.Prune(ctx, PruneRequest{
		Issue: "42", Policy: retention.Policy{checkpoint.Manual: {Keep: 200}},
		Progress: func(done, total int) { told = append(told, [2]int{done, total}) },
	})
	require.NoError(t, err)
	require.Len(t, done.Removed, 100)
	require.NotEmpty(t, told)
	assert.Equal(t, [2]int{200, 200}, told[len(told)-1])
	assert.Equal(t, [2]int{1, 200}, told[0])
}

// A save that ran out of time, or left out a file, carries the version of the checkpoint that it
// replaces.
func TestSaveThatLeftOutAFileCarriesTheVersionBefore(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]func(*SaveRequest){
		"out of time": func(req *SaveRequest) { req.Budget = 1 },
		"over a size": func(req *SaveRequest) { req.MaxSize = 100_000 },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Write("a.txt", "staged\n")
			w.Git("add", "a.txt")
			w.Write("a.txt", "precious\n")
			req := w.request(checkpoint.SessionEnd)
			req.Retention = retention.Policy{checkpoint.SessionEnd: {Keep: 1}}
			full := w.save(req)
			w.Write("a.txt", strings.Repeat("more\n", 100_000))
			limited := req
			limit(&limited)
			saved := w.save(limited)
			require.NotEmpty(t, saved.Record.Snapshot().LeftOut())
			assert.Equal(t, []checkpoint.ID{full.ID}, saved.Pruned)
			assert.Equal(t, "precious", w.Git("cat-file", "blob", saved.Commit.String()+":state/a.txt"))
			assert.Equal(t, full.ID, saved.Record.Snapshot().LeftOut()[0].CarriedFrom)
		})
	}
}
