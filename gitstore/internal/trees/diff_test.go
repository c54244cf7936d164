package trees

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Diff returns the same entries as git diff-tree, in the same order.
func TestDiffMatchesGitDiffTree(t *testing.T) {
	t.Parallel()
	gittest.SkipShort(t)
	r := repository{gittest.New(t), t}
	store, err := odb.Open(odb.Config{Dir: r.GitPath("objects"), Git: git.Git{Dir: r.Dir}})
	require.NoError(t, err)
	t.Cleanup(func() { store.Close() })
	rng := rand.New(rand.NewPCG(3, 4))
	before := r.randomTree(rng)
	for range 60 {
		after := r.randomTree(rng)
		out := r.Pipe(nil, "diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", before, after)
		var want []string
		fields := git.Fields(out)
		for i := 0; i+1 < len(fields); i += 2 {
			want = append(want, strings.Join(strings.Fields(strings.TrimPrefix(fields[i], ":"))[:4], " ")+" "+fields[i+1])
		}
		changes, err := Diff(store, plumbing.NewHash(before), plumbing.NewHash(after))
		require.NoError(t, err)
		var got []string
		for _, c := range changes {
			got = append(got, fmt.Sprintf("%06o %06o %s %s %s", c.Old.Mode, c.New.Mode, c.Old.Hash, c.New.Hash, c.Path))
		}
		assert.Equal(t, want, got)
		before = after
	}
}

type repository struct {
	*gittest.Repo
	t *testing.T
}

// randomTree writes a small tree with names that collide as files and directories.
func (r repository) randomTree(rng *rand.Rand) string {
	r.t.Helper()
	names := []string{"a", "a/b", "a/b/c", "a.b", "a-b", "a0", "b", "b/x", "c/d/e/f", "z", "a\nb", "\xff"}
	modes := []string{"100644", "100755", "120000", "160000"}
	r.Git("read-tree", "--empty")
	var in strings.Builder
	for _, name := range names {
		if rng.IntN(2) == 0 {
			mode := modes[rng.IntN(len(modes))]
			fmt.Fprintf(&in, "%s %s\t%s\x00", mode, r.Hash(fmt.Sprint(rng.IntN(2))), name)
		}
	}
	r.Pipe([]byte(in.String()), "update-index", "-z", "--add", "--replace", "--index-info")
	return r.Git("write-tree")
}
