package gitstore

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// done saves a completed task.
func (w *world) done(task string) {
	w.save(w.request(checkpoint.Manual, func(r *checkpoint.Record) {
		one, all := checkpoint.NewMap(), checkpoint.NewMap()
		if had := r.Doc().Sub("tasks"); had != nil {
			all = had.Clone()
		}
		one.Set("status", "complete")
		all.Set(task, one)
		r.Doc().Set("tasks", all)
	}))
}

// A clock far ahead of its commit's time counts as this time: no clock follows it, and later work
// stands above it.
func TestSyncWithTheLastClock(t *testing.T) {
	t.Parallel()
	a, b, hub, _ := pair(t, 1)
	a.done("A")
	b.done("B")
	last := fmt.Sprint(int64(math.MaxInt64))
	message := regexp.MustCompile(`(?m)^(Checkpoint-Clock:) .*$`).ReplaceAllString(b.Git("log", "-1", "--format=%B", LiveRef("42")), "$1 "+last)
	record := regexp.MustCompile(`(?m)^(clock:) .*$`).ReplaceAllString(b.Git("show", LiveRef("42")+":checkpoint.yaml")+"\n", "$1 "+last)
	blob := strings.TrimSpace(string(b.Pipe([]byte(record), "hash-object", "-w", "--stdin")))
	entries := regexp.MustCompile(`blob \w+(\tcheckpoint.yaml)`).ReplaceAllString(b.Git("ls-tree", LiveRef("42")), "blob "+blob+"$1")
	tree := strings.TrimSpace(string(b.Pipe([]byte(entries+"\n"), "mktree")))
	b.Git("update-ref", LiveRef("42"), b.Git("-c", "user.name=x", "-c", "user.email=x@x", "commit-tree", "-p", LiveRef("42")+"~1", "-p", LiveRef("42")+"^2", "-m", message, tree))
	b.Git("update-ref", repo.OwnRef("42"), LiveRef("42"))
	require.False(t, mustRead(t, b).NewestClock().Ahead(b.now))
	for range 2 {
		require.NoError(t, a.sync().Err)
		require.NoError(t, b.sync().Err)
	}
	assert.Equal(t, a.Git("--git-dir="+hub, "rev-parse", LiveRef("42")), a.tip())
	assert.Equal(t, a.tip(), b.tip())
	assert.Nil(t, mustRead(t, a).UnknownCommit(), "each commit is a checkpoint")
	assert.Len(t, a.live(), 4, "the work of both is joined")
	later := a.save(a.request(checkpoint.Manual))
	require.NoError(t, a.sync().Err)
	require.NoError(t, b.sync().Err)
	assert.Equal(t, later.ID, b.live()[4])
}

func mustRead(t *testing.T, w *world) *chain.Chain {
	t.Helper()
	c, err := w.s.chain.ReadChain(ctx, "42", LiveRef("42"), 0)
	require.NoError(t, err)
	return c
}
