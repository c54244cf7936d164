package restore_test

import (
	"os"
	"slices"
	"testing"

	"git-checkpoint/gitstore"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRestoreReadsContent checks that a restore keeps edits that change neither size nor mtime, even
// if settings and a flag hide them from git.
func TestRestoreReadsContent(t *testing.T) {
	t.Parallel()
	x := newSite(t, "tracked", "flagged")
	x.Git("config", "core.trustctime", "false")
	x.Git("config", "core.checkStat", "minimal")
	for _, name := range []string{"tracked", "flagged", "untracked"} {
		x.Write(name, "saved\n")
	}
	x.Git("add", "tracked", "flagged")
	c := x.save()
	x.Git("update-index", "--assume-unchanged", "flagged")
	names := []string{"flagged", "tracked", "untracked"}
	for _, name := range names {
		info, err := os.Lstat(x.Path(name))
		require.NoError(t, err)
		x.Write(name, "other\n")
		require.NoError(t, os.Chtimes(x.Path(name), info.ModTime(), info.ModTime()))
	}
	plan, err := x.s.Restorer.Plan(t.Context(), c, nil)
	require.NoError(t, err)
	assert.Equal(t, names, slices.Sorted(slices.Values(slices.Concat(plan.Restored, plan.Unsaved, plan.InTheWay))))
	done := x.restore(c, func(r *gitstore.RestoreRequest) { r.Asked = true })
	assert.Equal(t, names, done.Skipped)
	for _, name := range names {
		assert.Equal(t, "other\n", x.Read(name))
	}
	x.noLitter()
}
