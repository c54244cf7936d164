package gitstore

import (
	"fmt"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
