package restore_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/internal/restore"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asideSite returns a repository with a checkpoint, and with files in the way of it that a restore
// sets aside: large, git-lfs and unreadable ones, tracked and new, and deleted in the checkpoint.
func asideSite(t *testing.T) (x *site, c *gitstore.Checkpoint, paths []string) {
	former := restore.SetMaxInMemory(100)
	t.Cleanup(func() { restore.SetMaxInMemory(former) })
	x = newSite(t, "l.bin")
	x.stageSome()
	x.Write("l.bin", "of the checkpoint\n")
	x.Write("big", strings.Repeat("large in the checkpoint too\n", 20))
	x.Git("add", "-A")
	c = x.save()
	x.clean()
	x.Write("a", "staged since\n")
	x.Git("add", "a")
	x.Write("a", strings.Repeat("large and not staged\n", 20))
	x.Write("d/e", strings.Repeat("large, and deleted in the checkpoint\n", 20))
	x.Write("new/n", strings.Repeat("large and new\n", 20))
	x.Write("big", strings.Repeat("large and new\n", 21))
	x.Write("l.bin", "content of git-lfs\n")
	x.Git("config", "filter.lfs.clean", "tr a-z A-Z")
	x.Git("config", "filter.lfs.smudge", "tr A-Z a-z")
	x.Write(".git/info/attributes", "*.bin filter=lfs\n")
	x.reopen()
	if os.Getuid() == 0 { // root reads every file
		return x, c, []string{"a", "big", "d/e", "l.bin", "new/n"}
	}
	x.Write("d/f", "not readable\n")
	require.NoError(t, os.Chmod(x.Path("d/f"), 0))
	return x, c, []string{"a", "big", "d/e", "d/f", "l.bin", "new/n"}
}

// identities returns the identity of each file, which a rename keeps, and the index.
func (x *site) identities(paths []string) (infos []os.FileInfo, index string) {
	x.t.Helper()
	for _, path := range paths {
		info, err := os.Lstat(x.Path(path))
		require.NoError(x.t, err)
		infos = append(infos, info)
	}
	return infos, x.Git("ls-files", "-s")
}

func (x *site) kept() (names []string) {
	names, _ = filepath.Glob(x.Path(".git/git-checkpoint/kept/*/*/*"))
	return names
}

func TestUndoRenamesTheFilesBackThatWereSetAside(t *testing.T) {
	x, c, paths := asideSite(t)
	before, index := x.identities(paths)
	check := func() {
		t.Helper()
		after, now := x.identities(paths)
		for i, path := range paths {
			assert.True(t, os.SameFile(before[i], after[i]), "%s is another file", path)
			assert.Equal(t, before[i].ModTime(), after[i].ModTime(), path)
			assert.Equal(t, before[i].Mode(), after[i].Mode(), path)
		}
		assert.Equal(t, index, now)
	}
	done := x.restore(c, force)
	assert.Equal(t, paths, done.Restored)
	assert.Equal(t, "staged a\n", x.Read("a"))
	assert.NoFileExists(t, x.Path("d/e"))
	assert.Len(t, x.kept(), len(paths))
	for _, path := range x.kept() {
		if data, err := os.ReadFile(path); err == nil {
			_, err = x.Run(nil, "cat-file", "-e", plumbing.ComputeHash(plumbing.BlobObject, data).String())
			assert.Error(t, err, "%s was copied into the repository", path)
		}
	}
	x.undo()
	check()
	assert.Len(t, x.kept(), 2, "the large and the git-lfs file of the checkpoint")
	_, err := x.s.Revert(context.Background(), "redo", gitstore.Which{}, nil)
	require.NoError(t, err)
	assert.Equal(t, "staged a\n", x.Read("a"))
	assert.Equal(t, "of the checkpoint\n", x.Read("l.bin"))
	x.undo()
	check()

	x.clock = x.clock.Add(15 * 24 * time.Hour)
	x.clean()
	x.restore(c)
	assert.NotEmpty(t, x.kept())
	x.clock = x.clock.Add(48 * time.Hour)
	x.clean()
	x.restore(c)
	assert.Empty(t, x.kept(), "the entry has expired")
}

// A failed restore renames the files back, and a file that was edited since stays.
func TestFailedRestoreReturnsTheFilesThatWereSetAside(t *testing.T) {
	x, c, paths := asideSite(t)
	before, index := x.identities(paths)
	for stop := 1; stop < len(paths); stop++ {
		n := 0
		restore.SetFault(func(at string) error {
			if n++; at == "moved" && n > 2+stop {
				restore.SetFault(nil)
				return os.ErrPermission
			}
			return nil
		})
		_, err := x.try(c, force)
		require.ErrorIs(t, err, os.ErrPermission)
		after, now := x.identities(paths)
		for i := range paths {
			assert.True(t, os.SameFile(before[i], after[i]), "%s after %d", paths[i], stop)
		}
		assert.Equal(t, index, now)
		assert.Empty(t, x.kept())
	}
	x.restore(c, force)
	x.Write("a", "mine\n")
	assert.Equal(t, []string{"a"}, x.undo().Skipped)
	assert.Equal(t, "mine\n", x.Read("a"))
	assert.NotEmpty(t, x.kept(), "the former file is still there")
}

// An undo that ended between the two renames of an exchange is finished by the next one.
func TestUndoFindsTheFileOfAnInterruptedExchange(t *testing.T) {
	x, c, paths := asideSite(t)
	before, index := x.identities(paths)
	x.restore(c, force)
	stopped := false
	restore.SetFault(func(at string) error {
		if at != "aside" || stopped {
			return nil
		}
		stopped = true
		return os.ErrPermission
	})
	defer restore.SetFault(nil)
	_, err := x.s.Revert(context.Background(), "undo", gitstore.Which{}, nil)
	require.ErrorIs(t, err, os.ErrPermission)
	x.reopen()
	_, err = x.s.Restorer.Abort(context.Background())
	require.NoError(t, err)
	after, now := x.identities(paths)
	for i, path := range paths {
		assert.True(t, os.SameFile(before[i], after[i]), "%s is another file", path)
	}
	assert.Equal(t, index, now)
}

// A file that cannot be set aside is in the way, also with force.
func TestAFileThatCannotBeSetAsideIsInTheWay(t *testing.T) {
	x, c, paths := asideSite(t)
	before, _ := x.identities(paths)
	x.Write(".git/git-checkpoint/kept", "not a folder")
	done := x.restore(c, force)
	assert.Equal(t, paths, done.InTheWay)
	assert.Empty(t, done.Restored)
	after, _ := x.identities(paths)
	for i := range paths {
		assert.True(t, os.SameFile(before[i], after[i]), paths[i])
	}
}
