package refs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// For a git that cannot open a table there are no refs, and it says so with exit 0.
func TestUnreadableTablesAreNoEmptyAnswer(t *testing.T) {
	w, r, one := reader(t)
	w.Git("update-ref", "refs/checkpoints/42", one)
	if _, err := w.Run(nil, "refs", "migrate", "--ref-format=reftable"); err != nil {
		t.Skip("this git has no reftable: ", err)
	}
	r.Files = false
	none, err := r.List(t.Context(), "refs/checkpoints-archive/")
	require.NoError(t, err)
	assert.Empty(t, none)
	hash, err := r.Read(t.Context(), "refs/checkpoints/43")
	require.NoError(t, err)
	assert.True(t, hash.IsZero())

	tables, err := filepath.Glob(w.GitPath("reftable/*.ref"))
	require.NoError(t, err)
	require.NotEmpty(t, tables)
	for _, table := range tables {
		require.NoError(t, os.Rename(table, table+".away"))
		require.NoError(t, os.Symlink(filepath.Base(table), table))
	}
	_, err = r.List(t.Context(), "refs/checkpoints/")
	require.Error(t, err)
	_, err = r.Read(t.Context(), "refs/checkpoints/42")
	require.Error(t, err)
	for _, table := range tables {
		require.NoError(t, os.Rename(table+".away", table))
	}
	hash, err = r.Read(t.Context(), "refs/checkpoints/42")
	require.NoError(t, err)
	assert.Equal(t, plumbing.NewHash(one), hash)
}

// The branch of a new repository is unborn: HEAD is in no list.
func TestEmptyTablesAreAnEmptyAnswer(t *testing.T) {
	w, r, _ := reader(t)
	if _, err := w.Run(nil, "init", "-q", "--ref-format=reftable", w.Path("sub")); err != nil {
		t.Skip("this git has no reftable: ", err)
	}
	w = w.In(w.Path("sub"))
	r.Git.Dir, r.Path, r.Files = w.Dir, w.GitPath(""), false
	none, err := r.List(t.Context(), "refs/checkpoints/")
	require.NoError(t, err)
	assert.Empty(t, none)
}
