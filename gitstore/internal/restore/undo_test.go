package restore_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/internal/restore"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUndoLeavesFurtherEditsAlone(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.stageSome()
	c := x.save()
	x.clean()
	x.Write("a", "mine\n")
	x.restore(c, takeTheirs)
	x.Write("a", "edited after the restore\n")
	done := x.undo()
	assert.Equal(t, []string{"a"}, done.Skipped)
	assert.Equal(t, []string{"d/e", "new/n"}, done.Restored)
	assert.Equal(t, "edited after the restore\n", x.Read("a"))
	_, err := x.s.Undo(context.Background(), "42")
	require.ErrorIs(t, err, gitstore.ErrNothingToUndo)
	kept := x.Git("for-each-ref", "--format=%(refname)", "refs/git-checkpoint/undo/42/*-undone")
	assert.True(t, strings.HasSuffix(kept, "-undone"), kept)
	mine := x.Hash("mine\n")
	assert.Contains(t, x.Git("ls-tree", "-r", kept), mine, "what a was before is still there")
}

func TestUndoTwice(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.stageSome()
	first := x.save()
	x.Write("a", "second\n")
	x.Git("add", "-A")
	second := x.save()
	x.clean()
	clean := x.picture()
	x.restore(first)
	one := x.picture()
	x.clock = x.clock.Add(-time.Minute) // same second, or a clock set back
	x.restore(second, takeTheirs)
	assert.Equal(t, "second\n", x.Read("a"))
	x.undo()
	assert.Equal(t, one, x.picture())
	x.undo()
	assert.Equal(t, clean, x.picture())
}

func TestSafetySnapshotsExpire(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.stageSome()
	c := x.save()
	x.clean()
	x.restore(c)
	old := x.Git("for-each-ref", "--format=%(refname)", "refs/git-checkpoint/undo")
	x.clean()
	x.clock = x.clock.Add(14*24*time.Hour - time.Minute)
	x.restore(c)
	assert.Contains(t, x.Git("for-each-ref", "--format=%(refname)", "refs/git-checkpoint/undo"), old)
	x.clean()
	x.clock = x.clock.Add(time.Hour)
	x.restore(c)
	refs := x.Git("for-each-ref", "--format=%(refname)", "refs/git-checkpoint/undo")
	assert.NotContains(t, refs, old)
	assert.Len(t, strings.Split(refs, "\n"), 2)
}

// TestUndoKeepsModes checks that permissions unknown to git are restored too.
func TestUndoKeepsModes(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.stageSome()
	c := x.save()
	x.clean()
	require.NoError(t, os.Chmod(x.Path("a"), 0o640))
	require.NoError(t, os.Chmod(x.Path("d/e"), 0o400))
	before := x.picture()
	x.restore(c)
	x.undo()
	assert.Equal(t, before, x.picture())
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
	for _, stop := range []string{"journal", "moved", "index"} {
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
	assert.Empty(t, x.Git("for-each-ref", "refs/git-checkpoint/undo"))
	assert.Len(t, x.restore(c).Restored, 3)
}
