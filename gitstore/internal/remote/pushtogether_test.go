package remote

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

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
		s := gittest.New(t)
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
		s.Git("push", "-q", hub, older+":refs/x/extended", newer+":refs/x/same", other+":refs/x/moved", older+":refs/x/rewritten")
		hash := plumbing.NewHash
		updates := []RefUpdate{
			{"refs/x/extended", hash(newer), hash(older)},
			{"refs/x/same", hash(newer), hash(older)},
			{"refs/x/moved", hash(newer), hash(older)},
			{"refs/x/rewritten", hash(other), hash(older)},
		}
		for n := range fewUpdates {
			updates = append(updates, RefUpdate{fmt.Sprintf("refs/x/new%%-%d", n), hash(older), plumbing.ZeroHash})
		}
		l, outcome := opened(t, s, "push", hub), map[string]error{}
		if together {
			var err error
			outcome, err = l.Push(t.Context(), updates...)
			require.NoError(t, err)
		} else {
			for _, g := range updates {
				said, err := l.Push(t.Context(), g)
				require.NoError(t, err)
				maps.Copy(outcome, said)
			}
		}
		require.Len(t, outcome, 1, "%v", outcome)
		require.ErrorIs(t, outcome["refs/x/moved"], ErrStale)
		tips, err := l.Tips(t.Context())
		require.NoError(t, err)
		for _, g := range updates {
			if g.Ref != "refs/x/moved" {
				assert.Equal(t, g.Tip, tips[g.Ref], g.Ref)
			}
		}
		assert.Equal(t, other, tips["refs/x/moved"].String())
		assert.Empty(t, s.Git("for-each-ref", Incoming))
	}
}
