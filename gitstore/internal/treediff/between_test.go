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
	store, err := odb.Open(odb.Config{Dir: r.GitPath("objects"), Git: git.Git{Dir: r.Dir}})
	require.NoError(t, err)
	t.Cleanup(func() { store.Close() })
	return r, Source{Git: git.Git{Dir: r.Dir}, Objects: store}, plumbing.NewHash(r.Git("write-tree"))
}

// TestSame checks that a removed file is listed, and that equal trees are the same.
func TestSame(t *testing.T) {
	t.Parallel()
	r, at, staged := newPlace(t)
	r.Git("rm", "-q", "--cached", "run.sh")
	b, err := New(at, Side{Tree: staged}, Side{Tree: plumbing.NewHash(r.Git("write-tree"))})
	require.NoError(t, err)
	files, err := b.Files(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []Change{{Path: "run.sh", Status: "deleted", OldMode: trees.ModeExec, Deleted: 1, Counted: true}}, files)

	same, err := New(at, Side{Tree: staged}, Side{Tree: staged})
	require.NoError(t, err)
	assert.True(t, same.Same())
}
