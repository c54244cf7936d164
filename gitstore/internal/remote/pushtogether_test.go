package remote

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Many refs have the same results with one refspec as with a lease for each: new, extended,
// up to date, moved at the remote, and rewritten.
func TestPushTogetherMatchesLeases(t *testing.T) {
	t.Parallel()
	for _, together := range []bool{false, true} {
		s := &site{Repo: gittest.New(t)}
		hub := filepath.Join(t.TempDir(), "hub")
		s.Git("init", "-q", "--bare", hub)
		commit := func(parents ...string) string {
			args := []string{"commit-tree", "-m", "checkpoint"}
			for _, p := range parents {
				args = append(args, "-p", p)
			}
			return s.Git(append(args, s.Git("hash-object", "-t", "tree", "-w", os.DevNull))...)
		}
		base := commit()
		older := commit(base)
		newer, other := commit(older), s.Git("commit-tree", "-m", "elsewhere", "-p", base, older+"^{tree}")
		s.Git("push", "-q", hub, older+":refs/x/extended", newer+":refs/x/same", other+":refs/x/moved", older+":refs/x/rewritten", older+":refs/y/extended")
		hash := plumbing.NewHash
		updates := []RefUpdate{
			{"refs/x/extended", hash(newer), hash(older)},
			{"refs/y/extended", hash(newer), hash(older)},
			{"refs/x/same", hash(newer), hash(older)},
			{"refs/x/moved", hash(newer), hash(older)},
			{"refs/x/rewritten", hash(other), hash(older)},
		}
		for n := range fewUpdates {
			updates = append(updates, RefUpdate{fmt.Sprintf("refs/x/new%%-%d", n), hash(older), plumbing.ZeroHash})
		}
		h := s.here()
		h.Root, h.Dir = s.Dir, s.GitPath("")
		if together {
			h.CommonDir = h.Dir
		}
		old := filepath.Join(h.Dir, "git-checkpoint", "push", "1-old")
		require.NoError(t, os.MkdirAll(old, 0o777))
		require.NoError(t, os.Chtimes(old, time.Time{}, time.Now().Add(-25*time.Hour)))

		dry, err := h.Open("push", hub, 0, true).Push(context.Background(), true, updates...)
		require.NoError(t, err)
		assert.Empty(t, s.Git("--git-dir="+hub, "for-each-ref", "refs/x/new*"))
		outcome, err := h.Open("push", hub, 0, true).Push(context.Background(), false, updates...)
		require.NoError(t, err)
		for _, said := range []map[string]error{dry, outcome} {
			require.Len(t, said, 2, "%v", said)
			require.ErrorIs(t, said["refs/x/moved"], ErrStale)
			require.Error(t, said["refs/x/same"])
		}
		tips, err := h.Open("push", hub, 0, true).Tips(context.Background())
		require.NoError(t, err)
		for _, g := range updates {
			if g.Ref != "refs/x/moved" {
				assert.Equal(t, g.Tip, tips[g.Ref], g.Ref)
			}
		}
		assert.Equal(t, other, tips["refs/x/moved"].String())
		left, err := os.ReadDir(filepath.Dir(old))
		require.NoError(t, err)
		assert.Len(t, left, map[bool]int{false: 1}[together], "temporary directories")
	}
}

// The HEADs of chains with different histories are counted like one chain at a time.
func TestUnpublishedCommitsOfManyGroups(t *testing.T) {
	t.Parallel()
	s := &site{Repo: gittest.New(t)}
	s.Commit("first")
	genesis := s.Git("commit-tree", "-m", "genesis", s.Git("rev-parse", "HEAD^{tree}"))
	var groups [][]RefUpdate
	add := func(tips ...string) {
		var updates []RefUpdate
		for _, tip := range tips {
			updates = append(updates, RefUpdate{"refs/x/" + tip, plumbing.NewHash(tip), plumbing.ZeroHash})
		}
		groups = append(groups, updates)
	}
	published := s.saved(genesis)
	add(published)
	s.Git("update-ref", "refs/remotes/origin/main", "HEAD")
	s.Git("checkout", "-q", "-b", "side")
	s.Commit("side")
	side := s.saved(genesis)
	add(side)
	s.Git("checkout", "-q", "-")
	for range 3 {
		s.Commit("another")
	}
	add(s.saved(genesis))
	s.Git("merge", "-q", "--no-edit", "side")
	merged := s.saved(side)
	add(merged)
	add(s.saved(published), merged)
	h := s.here()
	together, err := h.Showing(context.Background(), "origin", Exposed{}, groups...)
	require.NoError(t, err)
	counts := []int{}
	for n, updates := range groups {
		alone, err := h.Showing(context.Background(), "origin", Exposed{}, updates)
		require.NoError(t, err)
		assert.Equal(t, alone[0], together[n], n)
		counts = append(counts, together[n].Commits)
	}
	assert.Equal(t, []int{0, 1, 3, 5, 5}, counts)
}
