package gitstore

import (
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The HEADs that are read here are those that git lists, for a chain that goes
// on from what the remote has, for one that was rewritten, and for a new one.
func TestHeadsAreThoseOfGit(t *testing.T) {
	w := newWorld(t)
	var tips []plumbing.Hash
	var ids []checkpoint.ID
	for range 4 {
		w.Commit("another")
		ids = append(ids, w.manual(1)...)
		tips = append(tips, plumbing.NewHash(w.tip()))
	}
	require.NoError(t, w.s.Drop(ctx, "42", ids[1:2]))
	rewritten := plumbing.NewHash(w.tip())
	for name, c := range map[string]struct {
		tip, seen plumbing.Hash
		want      int
	}{
		"new":       {tips[3], plumbing.ZeroHash, 4},
		"goes on":   {tips[3], tips[1], 2},
		"rewritten": {rewritten, tips[3], 2},
		"the same":  {tips[2], tips[2], 0},
		"older":     {tips[1], tips[3], 0},
	} {
		var seen []string
		if !c.seen.IsZero() {
			seen = []string{"^" + c.seen.String()}
		}
		want, err := w.s.savedHeads(ctx, []string{c.tip.String()}, seen)
		require.NoError(t, err, name)
		got, ok := w.s.headsOfAll([]gift{{"refs/x", c.tip, c.seen}})
		require.True(t, ok, name)
		assert.Equal(t, want, got, name)
		assert.Len(t, got, c.want, name)
	}
	_, ok := w.s.headsOfAll([]gift{{"refs/x", plumbing.NewHash("1111111111111111111111111111111111111111"), plumbing.ZeroHash}})
	assert.False(t, ok, "git is asked about what is not here")
}
