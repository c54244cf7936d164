package refs

import (
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tables returns a Reader of an empty repository with the reftable backend.
func tables(t *testing.T) (*gittest.Repo, *Reader) {
	t.Helper()
	w := gittest.New(t)
	if _, err := w.Run(nil, "init", "-q", "--ref-format=reftable", w.Path("sub")); err != nil {
		t.Skip("this git has no reftable (2.45 has): ", err)
	}
	w = w.In(w.Path("sub"))
	return w, &Reader{Git: git.Git{Dir: w.Dir, Env: w.Env()}, Path: w.GitPath(".")}
}

// Git prints no refs and exits with status 0 if it cannot open a table; Values returns an
// error.
func TestUnreadableReftableIsError(t *testing.T) {
	t.Parallel()
	w, r := tables(t)
	w.Git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first")
	one := w.Git("rev-parse", "HEAD")
	w.Git("update-ref", "refs/checkpoints/42", one)
	none, err := r.Values(t.Context(), "refs/checkpoints-archive/")
	require.NoError(t, err)
	assert.Empty(t, none)
	hash, err := r.Read(t.Context(), "refs/checkpoints/43")
	require.NoError(t, err)
	assert.True(t, hash.IsZero())

	files, err := filepath.Glob(w.GitPath("reftable/*.ref"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, table := range files {
		require.NoError(t, os.Rename(table, table+".away"))
		require.NoError(t, os.Symlink(filepath.Base(table), table))
	}
	_, err = r.Values(t.Context(), "refs/checkpoints/")
	require.Error(t, err)
	_, err = r.Read(t.Context(), "refs/checkpoints/42")
	require.Error(t, err)
	for _, table := range files {
		require.NoError(t, os.Rename(table+".away", table))
	}
	hash, err = r.Read(t.Context(), "refs/checkpoints/42")
	require.NoError(t, err)
	assert.Equal(t, plumbing.NewHash(one), hash)
}

// In a new repository with an unborn branch, HEAD is in no list, and Values returns no
// refs.
func TestEmptyReftableHasNoRefs(t *testing.T) {
	t.Parallel()
	_, r := tables(t)
	none, err := r.Values(t.Context(), "refs/checkpoints/")
	require.NoError(t, err)
	assert.Empty(t, none)
}
