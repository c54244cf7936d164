package gitstore

import (
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/repo"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Checkpoints without a valid trailer have no known order.
func TestUnknownOrderIsNotParallel(t *testing.T) {
	t.Parallel()
	id := func(name string) checkpoint.ID { return checkpoint.ID("CP-" + name + "-20260101T000000Z-0000aaaa") }
	known := func(ids ...checkpoint.ID) []checkpoint.ID { return append([]checkpoint.ID{}, ids...) }
	for name, c := range map[string]struct {
		commits  []chain.ChainCommit // oldest first
		heads    []checkpoint.ID
		parallel []checkpoint.ID
	}{
		"two roots":        {order(id, "a", known(), "b", known()), known(id("a")), known(id("b"))},
		"no trailer":       {order(id, "a", known(), "b", nil), known(id("a")), nil},
		"below no trailer": {order(id, "a", nil, "b", known(id("a")), "c", known(id("a"))), known(id("b")), known(id("c"))},
		"older than a missing one": {
			order(id, "a", known(), "b", known(), "c", known(id("gone"))), known(id("c")), nil,
		},
		"newer than a missing one": {
			order(id, "a", known(), "b", known(id("gone"), id("a")), "c", known(id("a"))), known(id("b")), known(id("c")),
		},
		"a missing one that another names": {
			order(id, "a", known(), "b", known(id("gone"), id("a")), "c", known(id("gone"))), known(id("b")), known(id("c")),
		},
		"a cycle":        {order(id, "a", known(id("b")), "b", known(id("a")), "c", known()), known(id("b")), known(id("c"))},
		"a missing head": {order(id, "a", known(), "b", known()), known(id("gone")), nil},
		"no head":        {order(id, "a", known(), "b", known()), nil, nil},
		"a merge of both": {
			order(id, "a", known(), "b", known(id("a")), "c", known(id("a")), "d", known(id("c"))), known(id("b"), id("c")), known(id("d")),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chain := &chain.Chain{Commits: c.commits, Rooted: true}
			var found []checkpoint.ID
			for _, p := range chain.Parallel(c.heads) {
				found = append(found, p.ID)
			}
			assert.Equal(t, c.parallel, found)
		})
	}
}

// order returns commits, newest first, from names and the ids that they came after; nil means
// no trailer.
func order(id func(string) checkpoint.ID, args ...any) []chain.ChainCommit {
	var commits []chain.ChainCommit
	for i := 0; i < len(args); i += 2 {
		r := checkpoint.New()
		r.SetID(id(args[i].(string)))
		r.SetTrigger(checkpoint.Manual)
		r.SetIssue("42")
		r.SetClock(checkpoint.Clock(i + 1))
		after, _ := args[i+1].([]checkpoint.ID)
		message := chain.EncodeMessage("42", r, after)
		if after == nil {
			message = strings.Replace(message, "Checkpoint-After: none\n", "", 1)
		}
		c := chain.Seal(repo.RawCommit{Message: message, Rest: []byte("author A <a> 1 +0000\ncommitter A <a> 1 +0000\n"), Parents: make([]plumbing.Hash, 2)}, nil)
		commits = append([]chain.ChainCommit{{Raw: c, Checkpoint: chain.CheckpointOf(c, "42")}}, commits...)
	}
	return commits
}

// The text of the trailer comes from anybody.
func FuzzAfterTrailer(f *testing.F) {
	for _, text := range []string{"none", "", "x-1", "CP-a-20260101T000000Z-0000aaaa CP-b-20260101T000000Z-0000bbbb", "x-1  x-2", "none x-1", "a b c d e f g h i j"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := chain.CheckpointOf(repo.RawCommit{Message: "m\n\nCheckpoint-Id: x-1\nCheckpoint-After: " + text + "\n", Parents: make([]plumbing.Hash, 1)}, "42")
		after, ok := c.CameAfter()
		require.LessOrEqual(t, len(after), 8)
		require.True(t, ok || after == nil)
		chain := &chain.Chain{Commits: []chain.ChainCommit{{Checkpoint: c}}, Rooted: true}
		for _, id := range append(after, "x-1") {
			has, known := chain.Lineage("x-1").Has(&Checkpoint{ID: id, Clock: c.Clock})
			require.True(t, has && known)
		}
	})
}
