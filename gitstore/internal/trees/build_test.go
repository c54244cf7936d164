package trees

import (
	"math/rand/v2"
	"testing"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Replace returns the same tree as git write-tree, for files in any order.
func TestBuiltTreeMatchesWriteTree(t *testing.T) {
	t.Parallel()
	r := repository{gittest.New(t), t}
	store, err := odb.Open(odb.Config{Dir: r.GitPath("objects"), Git: git.Git{Dir: r.Dir}})
	require.NoError(t, err)
	t.Cleanup(func() { store.Close() })
	rng := rand.New(rand.NewPCG(5, 6))
	for range 30 {
		want := plumbing.NewHash(r.randomTree(rng))
		changes, err := Diff(store, plumbing.ZeroHash, want)
		require.NoError(t, err)
		if len(changes) == 0 {
			want = plumbing.ZeroHash
		}
		files := make([]FileEntry, len(changes))
		for i, at := range rng.Perm(len(changes)) {
			files[at] = FileEntry{changes[i].Path, changes[i].New.Mode, changes[i].New.Hash}
		}
		got, err := Replace(store, store.NewBatch(), plumbing.ZeroHash, files)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}
