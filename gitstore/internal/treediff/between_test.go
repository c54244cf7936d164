package treediff

import (
	"os"
	"testing"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/odb"
	"git-checkpoint/gitstore/internal/trees"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newPlace returns a repository with staged files, and their tree.
func newPlace(t *testing.T) (*gittest.Repo, Source, plumbing.Hash) {
	t.Helper()
	r := gittest.New(t)
	r.Write("a.txt", "changed\n")
	r.Write("new dir/\"q\"\nline.txt", "odd name\n")
	r.Write("run.sh", "#!/bin/sh\n")
	require.NoError(t, os.Chmod(r.Path("run.sh"), 0o755))
	require.NoError(t, os.Symlink("a.txt", r.Path("link")))
	r.Git("add", "-A")
	store, err := odb.Open(odb.Config{Dir: r.GitPath("objects")})
	require.NoError(t, err)
	t.Cleanup(func() { store.Close() })
	return r, Source{Git: git.Git{Dir: r.Dir}, Objects: store, NoIndex: r.GitPath("no-index")}, plumbing.NewHash(r.Git("write-tree"))
}

// TestOverlay checks that an overlaid tree equals git's tree.
func TestOverlay(t *testing.T) {
	r, at, staged := newPlace(t)
	h := &held{objects: at.Objects, made: map[plumbing.Hash][]byte{}}
	blob := plumbing.NewHash(r.Git("rev-parse", staged.String()+":run.sh"))
	got, err := h.overlay(staged, []trees.FileEntry{
		{Path: "a.txt"}, {Path: "link/deep/x", Mode: trees.ModeFile, Hash: blob}, {Path: "new dir/gone"}, {Path: "run.sh", Mode: trees.ModeFile, Hash: blob},
	})
	require.NoError(t, err)
	r.Git("rm", "-qf", "--cached", "a.txt", "link")
	r.Git("update-index", "--add", "--cacheinfo", "100644,"+blob.String()+",link/deep/x")
	r.Git("update-index", "--chmod=-x", "run.sh")
	assert.Equal(t, r.Git("write-tree"), got.String())

	dir := t.TempDir()
	require.NoError(t, h.write(dir))
	r.Setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", dir)
	r.Git("fsck", "--strict", got.String())
}

// TestDeleted checks that deleted worktree files are omitted, and that trees outside
// checkpoints can be compared.
func TestDeleted(t *testing.T) {
	t.Parallel()
	_, at, staged := newPlace(t)
	after := Tree(staged)
	after.Deleted = []string{"run.sh"}
	b, err := New(at, Tree(staged), after)
	require.NoError(t, err)
	defer b.Close()
	files, err := b.Files(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []Change{{Path: "run.sh", Status: "deleted", OldMode: trees.ModeExec}}, files)

	same, err := New(at, Tree(staged), Tree(staged))
	require.NoError(t, err)
	defer same.Close()
	assert.True(t, same.Same())
}

// TestPatchIsSplitFromListAtEveryWriteSize checks that output is split at the same position for every write size.
func TestPatchIsSplitFromListAtEveryWriteSize(t *testing.T) {
	t.Parallel()
	const list, patch = ":1 2 3 4 M\x00a\x00", "diff\x00\x00more"
	for size := 1; size < 20; size++ {
		p := &parted{left: 100}
		for rest := []byte(list + "\x00" + patch); len(rest) > 0; {
			n := min(size, len(rest))
			wrote, err := p.Write(rest[:n])
			require.NoError(t, err)
			require.Equal(t, n, wrote)
			rest = rest[n:]
		}
		assert.Equal(t, list, string(p.list), size)
		assert.Equal(t, patch, string(p.patch), size)
	}
	p := &parted{left: 3}
	_, err := p.Write([]byte(list + "\x00" + patch))
	require.ErrorIs(t, err, errEnough)
	assert.Equal(t, "dif", string(p.patch))
	assert.True(t, p.full)
}
