package restore_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"git-checkpoint/gitstore"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRestoreIndexForms checks that a restore keeps the index format and returns the same
// result for every format.
func TestRestoreIndexForms(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	forms := map[string]func(*site){
		"v2":    func(x *site) { x.Git("update-index", "--index-version", "2") },
		"v4":    func(x *site) { x.Git("update-index", "--index-version", "4") },
		"split": func(x *site) { x.Git("config", "core.splitIndex", "true"); x.Git("update-index", "--split-index") },
		"untracked cache": func(x *site) {
			x.Git("config", "core.untrackedCache", "true")
			x.Git("update-index", "--force-untracked-cache")
			x.Git("status")
		},
		"sparse": func(x *site) {
			x.Git("sparse-checkout", "set", "--cone", "--sparse-index", "d")
		},
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			x := newSite(t, "o/p/q", "o/r")
			form(x)
			x.reopen()
			x.Write("a", "staged\n")
			x.Write("d/new", "new\n")
			x.Git("rm", "-q", "d/e")
			x.Git("add", "a", "d")
			saved := x.picture()
			c := x.save()
			x.Git("reset", "-q", "--hard")
			clean := x.picture()
			x.restore(c)
			assert.Equal(t, saved, x.picture())
			assert.Empty(t, x.Git("diff-files"))
			x.undo()
			assert.Equal(t, clean, x.picture())
			x.noLitter()
			if name == "sparse" {
				assert.Contains(t, x.Git("ls-files", "--sparse"), "o/")
			}
		})
	}
}

// TestRestoreOutsideTheCone checks that only index entries change outside the sparse
// checkout cone.
func TestRestoreOutsideTheCone(t *testing.T) {
	t.Parallel()
	x := newSite(t, "o/p", "o/q")
	x.Write("o/p", "staged p\n")
	x.Write("o/new", "staged new\n")
	x.Write("a", "staged a\n")
	x.Git("add", "-A")
	c := x.save()
	x.clean()
	x.Git("sparse-checkout", "set", "--cone", "d")
	x.reopen()
	clean := x.picture()
	x.restore(c)
	assert.Equal(t, "staged a\n", x.Read("a"))
	_, err := os.Lstat(x.Path("o"))
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.Equal(t, "S o/new\nS o/p\nS o/q", x.Git("ls-files", "-t", "o"))
	assert.Equal(t, "staged new\n", x.Git("show", ":o/new")+"\n")
	assert.Equal(t, "M  a\nA  o/new\nM  o/p", x.status())
	x.undo()
	assert.Equal(t, clean, x.picture())
	x.noLitter()
}

func TestRestoreFlags(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.Write("a", "staged\n")
	x.Git("add", "-A")
	c := x.save()
	x.clean()
	x.Git("update-index", "--assume-unchanged", "a")
	x.restore(c, stagedOnly)
	assert.Equal(t, "h a", x.Git("ls-files", "-v", "a"))
	x.undo()
	assert.Equal(t, "h a", x.Git("ls-files", "-v", "a"))
}

// TestRestoreFromASubdirectory checks that the working directory is kept.
func TestRestoreFromASubdirectory(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.Git("rm", "-q", "d/e", "d/f")
	c := x.save()
	x.clean()
	x.s = x.openAt(filepath.Join(x.Dir, "d"))
	x.restore(c)
	info, err := os.Stat(x.Path("d"))
	require.NoError(t, err)
	assert.True(t, info.IsDir())
	assert.Equal(t, "D  d/e\nD  d/f", x.status())
	x.undo()
	assert.Empty(t, x.status())
}

// TestRestoreSeparateGitDir prepares files in a git directory outside the worktree.
func TestRestoreSeparateGitDir(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.stageSome()
	c := x.save()
	x.clean()
	shm, err := os.MkdirTemp("/dev/shm", "git-checkpoint-*")
	if err != nil {
		t.Skip("no second file system here")
	}
	t.Cleanup(func() { os.RemoveAll(shm) })
	require.NoError(t, os.CopyFS(filepath.Join(shm, "git"), os.DirFS(x.Path(".git"))))
	x.remove(".git")
	x.Write(".git", "gitdir: "+filepath.Join(shm, "git")+"\n")
	x.Git("update-index", "-q", "--refresh")
	x.reopen()
	clean := x.picture()
	x.restore(c)
	assert.Equal(t, "M  a\nD  d/e\nA  new/n", x.status())
	assert.NotContains(t, x.picture(), ".git-checkpoint")
	x.undo()
	assert.Equal(t, clean, x.picture())
}

func TestRestoreUnborn(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.Git("checkout", "-q", "--orphan", "fresh")
	x.Git("rm", "-rqf", ".")
	x.Write("n", "n\n")
	x.Git("add", "-A")
	c := x.save()
	x.Git("rm", "-qf", "n")
	x.restore(c)
	assert.Equal(t, "A  n", x.status())
	x.undo()
	assert.Empty(t, x.status())
}

// TestRestoreKeepsRacyEntries checks a racily clean entry: a file edited in the same tick
// as the index write has the staged file's stat data. Git detects this by the index
// mtime, so a restore of another path must preserve that mtime.
func TestRestoreKeepsRacyEntries(t *testing.T) {
	x := newSite(t)
	x.Write("a", "staged\n")
	x.Git("add", "-A")
	c := x.save()
	x.clean()
	tick := time.Now().Add(-time.Hour) // git may compare whole seconds only
	require.NoError(t, os.Chtimes(x.Path("b"), tick, tick))
	x.Git("update-index", "--refresh")
	f, err := os.OpenFile(x.Path("b"), os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("9"), 0)
	require.NoError(t, errors.Join(err, f.Close()))
	x.Git("config", "core.trustctime", "false")
	x.Setenv("GIT_OPTIONAL_LOCKS", "0") // prevents git status from refreshing the entry
	for _, name := range []string{"b", ".git/index"} {
		require.NoError(t, os.Chtimes(x.Path(name), tick, tick))
	}
	require.Equal(t, " M b", x.status())
	x.restore(c)
	assert.Equal(t, "M  a\n M b", x.status())
}

// TestRestoreInAShallowClone checks a checkpoint whose HEAD commit is missing, so that
// its changes are unknown.
func TestRestoreInAShallowClone(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.stageSome()
	c := x.save()
	x.clean()
	x.Commit("second")
	x.Git("clone", "-q", "--depth=1", "file://"+x.Dir, x.Dir+"-shallow")
	y := *x
	y.Repo = x.In(x.Dir + "-shallow")
	y.Git("fetch", "-q", "--depth=1", "origin", "refs/checkpoints/42:refs/checkpoints/42")
	y.reopen()
	_, err := y.try(c)
	var refused *gitstore.RefusedError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "git fetch --unshallow", refused.Hint)
	assert.Empty(t, y.status())
}
