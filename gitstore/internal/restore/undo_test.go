package restore_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/internal/restore"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestUndoRestoresTheIndexFile checks that undo and redo bring back what the entries of an index do
// not show: here the notes about resolved conflicts, whose contents nothing else has.
func TestUndoRestoresTheIndexFile(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	conflict := func(path string) {
		var stages strings.Builder
		for n := 1; n <= 3; n++ {
			fmt.Fprintf(&stages, "100644 %s %d\t%s\n", x.Hash(fmt.Sprintf("version %d of %s\n", n, path)), n, path)
		}
		x.Git("rm", "-q", "--cached", path)
		x.Pipe([]byte(stages.String()), "update-index", "--index-info")
	}
	x.stageSome()
	conflict("a")
	c := x.save()
	x.clean()
	conflict("d/f")
	x.Git("add", "d/f")
	x.Write("intended", "later\n")
	x.Git("add", "-N", "intended")
	x.Git("update-index", "--assume-unchanged", "b")
	index := func() string {
		return x.Git("ls-files", "--resolve-undo") + "\n" + x.Git("ls-files", "-v", "-s") + "\n" + x.Git("diff", "--cached", "--raw")
	}
	before, files := index(), x.picture()
	x.restore(c, force)
	x.Git("update-index", "--clear-resolve-undo")
	after := index()
	require.Contains(t, after, " 3\ta")
	second := x.Hash("version 2 of d/f\n")
	x.Git("gc", "-q", "--prune=now")
	x.undo()
	assert.Equal(t, before, index())
	assert.Equal(t, files, x.picture())
	assert.Equal(t, "version 2 of d/f", x.Git("cat-file", "blob", second))
	assert.Empty(t, x.Git("diff-files", "--", "a", "d"), "stat data is fresh")
	_, err := x.s.Revert(context.Background(), "redo", gitstore.Which{}, nil)
	require.NoError(t, err)
	assert.Equal(t, after, index())

	// An index that has changed since is edited: the change stays.
	x.Write("b", "staged since\n")
	x.Git("update-index", "--no-assume-unchanged", "b")
	x.Git("add", "b")
	x.undo()
	assert.Equal(t, "M  b", x.Git("status", "--porcelain", "b"))
	assert.Empty(t, x.Git("ls-files", "--unmerged"))
}

// An entry expires after two weeks, if another time agrees with the clock.
func TestOperationsExpire(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.stageSome()
	c := x.save()
	numbers := func() string {
		return x.Git("for-each-ref", "--format=%(refname:lstrip=4)", "refs/git-checkpoint/operations")
	}
	for _, step := range []struct {
		after time.Duration
		left  string
	}{
		{0, "0000000001"},
		{14*24*time.Hour + time.Hour, "0000000001\n0000000002"}, // no other time agrees
		{time.Minute, "0000000001\n0000000002\n0000000003"},
		{24 * time.Hour, "0000000002\n0000000003\n0000000004"},
		{-15 * 24 * time.Hour, "0000000002\n0000000003\n0000000004\n0000000005"},
	} {
		x.clean()
		x.clock = x.clock.Add(step.after)
		x.restore(c)
		assert.Equal(t, step.left, numbers(), step.after)
	}
}

// TestUndoKeepsEmptyDirectories checks that a directory is kept if it existed before the
// restored file.
func TestUndoKeepsEmptyDirectories(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.Write("new/deep/n", "n")
	x.Git("add", "-A")
	c := x.save()
	x.clean()
	require.NoError(t, os.Mkdir(x.Path("new"), 0o755))
	x.restore(c)
	x.undo()
	entries, err := os.ReadDir(x.Path("new"))
	require.NoError(t, err)
	assert.Empty(t, entries)
}

// TestFailedRestoreIsUndone checks that a failed restore is undone.
func TestFailedRestoreIsUndone(t *testing.T) {
	x := newSite(t)
	x.Write("a", "staged\n")
	x.Write("d/e", "staged\n")
	x.Write("z/z", "staged\n")
	x.Git("add", "-A")
	c := x.save()
	x.clean()
	before := x.picture()
	for _, stop := range []string{"entry", "moved", "index"} {
		n := 0
		restore.SetFault(func(at string) error {
			if n++; at == stop && n > 2 || at == stop && stop != "moved" {
				restore.SetFault(nil)
				return os.ErrPermission
			}
			return nil
		})
		done, err := x.try(c)
		require.ErrorIs(t, err, os.ErrPermission, stop)
		assert.Empty(t, done.Undo)
		assert.Equal(t, before, x.picture(), stop)
		x.noLitter()
	}
	assert.Empty(t, x.Git("for-each-ref", "refs/git-checkpoint/operations"))
	assert.Len(t, x.restore(c).Restored, 3)
}
