package snapshot_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git/repository"
	"git-checkpoint/gitstore/internal/snapshot"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// remove removes paths of the worktree with all below them.
func (w *takes) remove(paths ...string) {
	w.t.Helper()
	for _, name := range paths {
		require.NoError(w.t, os.RemoveAll(w.Path(name)))
	}
}

func (w *takes) link(to, name string) {
	w.t.Helper()
	require.NoError(w.t, os.Symlink(to, w.Path(name)))
}

// TestTake takes the state of repositories in which an index of its own, git add or a list of git
// goes wrong. The state is the worktree each time, except for the paths that it names.
func TestTake(t *testing.T) {
	t.Parallel()
	nested := func(w *takes, dir string) {
		w.Git("init", "-q", dir)
		w.Write(dir+"/in", "in\n")
	}
	for name, change := range map[string]func(w *takes) (skipped map[string]string){
		"same size in the second of the copy": func(w *takes) map[string]string {
			w.Write("a", "1\n")
			w.Git("add", "a")
			w.Write("a", "2\n")
			time.Sleep(1100 * time.Millisecond)
			return nil
		},
		"forced": func(w *takes) map[string]string {
			w.Write(".gitignore", "*.log\n")
			w.checkTaken("before")
			w.Write("x.log", "x\n")
			w.Write("y.log", "y\n")
			w.Git("add", "-f", "x.log")
			return nil
		},
		"forced and gone for a time": func(w *takes) map[string]string {
			w.Write(".gitignore", "*.log\n")
			w.Write("x.log", "x\n")
			w.Git("add", "-f", "x.log")
			w.remove("x.log")
			w.checkTaken("gone")
			w.Write("x.log", "again\n")
			return nil
		},
		"ignored later": func(w *takes) map[string]string {
			w.Write("secret", "one\n")
			w.checkTaken("before")
			w.Write(".gitignore", "secret\n")
			w.Write("secret", "two\n")
			return nil
		},
		"ignored later, at a turn": func(w *takes) map[string]string {
			w.req.Idle = true
			w.Write("secret", "one\n")
			w.checkTaken("before")
			w.Write(".git/info/exclude", "secret\n")
			w.Write("n", "n\n")
			return nil
		},
		"marked names that are not UTF-8": func(w *takes) map[string]string {
			w.Write("\xff", "x\n")
			w.Git("add", "\xff")
			w.Git("update-index", "--skip-worktree", "\xff")
			w.checkTaken("before")
			w.Write("\xff", "edited\n")
			return nil
		},
		"ignored by a file that ignores itself": func(w *takes) map[string]string {
			w.Write("secret", "one\n")
			w.checkTaken("before")
			w.Write(".gitignore", "*\n")
			return nil
		},
		"removed from the index and ignored": func(w *takes) map[string]string {
			w.Git("rm", "-q", "--cached", "a", "d/b")
			w.Write(".gitignore", "a\n")
			return nil
		},
		"intent to add": func(w *takes) map[string]string {
			w.Write("n", "n\n")
			w.Write("gone", "n\n")
			w.Git("add", "-N", "n", "gone")
			w.remove("gone")
			return nil
		},
		"marked skip-worktree and assume-unchanged": func(w *takes) map[string]string {
			w.checkTaken("before")
			w.Git("update-index", "--skip-worktree", "a")
			w.Git("update-index", "--assume-unchanged", "d/b")
			w.Write("a", "edited\n")
			w.Write("d/b", "edited\n")
			assert.Equal(w.t, []checkpoint.Flagged{{Path: "a", Flag: "skip-worktree"}, {Path: "d/b", Flag: "assume-unchanged"}}, w.take().Flagged)
			return nil
		},
		"marked skip-worktree and assume-unchanged both": func(w *takes) map[string]string {
			w.Git("update-index", "--skip-worktree", "a")
			w.Git("update-index", "--assume-unchanged", "a")
			w.Write("a", "edited\n")
			return nil
		},
		"absent, and marked skip-worktree after the first save": func(w *takes) map[string]string {
			w.checkTaken("before")
			w.Git("update-index", "--skip-worktree", "a")
			w.remove("a")
			assert.Equal(w.t, w.files("HEAD")["a"], w.files(w.take().Tree.String())["a"], "git treats it as unchanged")
			w.Git("update-index", "--no-skip-worktree", "a")
			return nil
		},
		"a directory without new files in place of a file marked skip-worktree": func(w *takes) map[string]string {
			w.Write(".gitignore", "*.log\n")
			w.Git("update-index", "--skip-worktree", "a")
			w.remove("a")
			w.Write("a/x.log", "x\n")
			assert.Equal(w.t, w.files("HEAD")["a"], w.files(w.take().Tree.String())["a"], "git treats it as absent")
			w.Write("a/new", "new\n")
			return nil
		},
		"sparse after the first save": func(w *takes) map[string]string {
			w.checkTaken("before")
			w.Git("sparse-checkout", "set", "d")
			w.Write("e/edited", "x\n")
			w.Write("d/b", "edited\n")
			st := w.take()
			assert.Equal(w.t, w.files("HEAD")["e/f"], w.files(st.Tree.String())["e/f"], "outside of the sparse checkout")
			assert.NotEmpty(w.t, w.files(st.Tree.String())["e/edited"])
			assert.NotEqual(w.t, w.files("HEAD")["d/b"], w.files(st.Tree.String())["d/b"])
			assert.Empty(w.t, st.Skipped)
			w.Git("sparse-checkout", "disable")
			return nil
		},
		"sparse index": func(w *takes) map[string]string {
			w.Git("sparse-checkout", "set", "--cone", "--sparse-index", "d")
			w.Write("d/b", "edited\n")
			assert.NotEmpty(w.t, w.files(w.take().Tree.String())["e/f"])
			w.Git("sparse-checkout", "disable")
			return nil
		},
		"conflicts": func(w *takes) map[string]string {
			w.Git("switch", "-q", "-c", "other")
			w.Write("a", "theirs\n")
			w.Write("d/b", "theirs\n")
			w.Git("commit", "-qam", "theirs")
			w.Git("switch", "-q", "-")
			w.Write("a", "ours\n")
			w.Git("rm", "-q", "d/b")
			w.Git("commit", "-qam", "ours")
			_, err := w.Run(nil, "merge", "-q", "other")
			require.Error(w.t, err)
			w.checkTaken("in the merge")
			st := w.take()
			assert.Len(w.t, st.User.Conflicts, 5)
			assert.Equal(w.t, w.files("HEAD"), w.files(st.Staged.String()))
			w.remove("a")
			w.checkTaken("an unmerged file is gone")
			w.Write("a/in", "in\n")
			w.checkTaken("a directory in place of an unmerged file")
			w.remove(".git/git-checkpoint")
			return nil
		},
		"a staged directory in place of an unmerged file": func(w *takes) map[string]string {
			w.Git("switch", "-q", "-c", "other")
			w.Write("a", "theirs\n")
			w.Git("commit", "-qam", "theirs")
			w.Git("switch", "-q", "-")
			w.Write("a", "ours\n")
			w.Git("commit", "-qam", "ours")
			_, err := w.Run(nil, "merge", "-q", "other")
			require.Error(w.t, err)
			w.remove("a")
			w.Write("a/in.log", "in\n")
			w.Git("update-index", "--add", "a/in.log")
			w.Write(".gitignore", "*.log\n")
			assert.Contains(w.t, w.files(w.take().Staged.String()), "a/in.log")
			return nil
		},
		"a save before was killed after it had changed its index": func(w *takes) map[string]string {
			w.checkTaken("before")
			w.Write("a", "edited\n")
			killed := w.In(w.Dir)
			killed.Setenv("GIT_INDEX_FILE", ".git/git-checkpoint/index")
			killed.Git("update-index", "a")
			return nil
		},
		"a file, a directory and a link change places": func(w *takes) map[string]string {
			w.checkTaken("before")
			w.remove("a", "d", "e")
			w.Write("a/in", "in\n")
			w.Write("d", "file\n")
			w.link("/etc", "e")
			return nil
		},
		"a link to a directory with the same names": func(w *takes) map[string]string {
			outside := w.t.TempDir()
			require.NoError(w.t, os.WriteFile(filepath.Join(outside, "b"), []byte("outside\n"), 0o666))
			w.remove("d")
			w.link(outside, "d")
			return nil
		},
		"nested repositories": func(w *takes) map[string]string {
			nested(w, "nest")
			w.Git("init", "-q", "empty")
			w.Git("init", "-q", "--bare", "bare")
			w.Git("worktree", "add", "-q", "wt")
			st := w.take()
			assert.Empty(w.t, w.files(st.Tree.String())["bare/HEAD"])
			w.remove("bare")
			return map[string]string{"nest/": repository.IsNested, "empty/": repository.IsNested, "wt/": repository.IsNested}
		},
		"a repository in place of files": func(w *takes) map[string]string {
			w.Write("plain/p1", "p1\n")
			w.checkTaken("before")
			nested(w, "plain")
			w.Write("plain/p2", "p2\n")
			w.remove("a")
			nested(w, "a")
			w.Write("d/b", "edited\n")
			w.Git("init", "-q", "d")
			st := w.take()
			assert.Equal(w.t, w.files("HEAD"), w.files(st.Tree.String()), "tracked files keep their last version, others leave")
			assert.Len(w.t, st.Skipped, 3)
			w.remove("a", "plain", "d/.git")
			return nil
		},
		"a line ending that safecrlf refuses": func(w *takes) map[string]string {
			w.Git("config", "core.autocrlf", "input")
			w.Git("config", "core.safecrlf", "true")
			w.Write("mixed", "a\r\nb\n")
			return nil
		},
		"a filter that fails": func(w *takes) map[string]string {
			w.Git("config", "filter.bad.clean", "false")
			w.Git("config", "filter.bad.required", "true")
			w.Write(".gitattributes", "*.bad filter=bad\n")
			w.Write("x.bad", "x\n")
			w.Write("y.bad", "y\n")
			w.Write("z", "z\n")
			st := w.take()
			files := w.files(st.Tree.String())
			assert.NotEmpty(w.t, files["z"])
			assert.Empty(w.t, files["x.bad"]+files["y.bad"])
			assert.Len(w.t, st.Skipped, 2)
			w.Git("config", "filter.bad.required", "false")
			w.Git("config", "filter.bad.clean", "cat")
			return nil
		},
		"names": func(w *takes) map[string]string {
			for _, name := range []string{":(top)x\ny", "*", "-f", "a b", "ü", "\"q\""} {
				w.Write(name, "x\n")
			}
			return nil
		},
		"modes that the file system lacks": func(w *takes) map[string]string {
			w.Write("exec", "x\n")
			require.NoError(w.t, os.Chmod(w.Path("exec"), 0o777))
			w.Git("add", "exec")
			w.Git("config", "core.fileMode", "false")
			require.NoError(w.t, os.Chmod(w.Path("a"), 0o777))
			st := w.take()
			files := w.files(st.Tree.String())
			assert.Equal(w.t, w.files("HEAD")["a"], files["a"])
			assert.True(w.t, strings.HasPrefix(files["exec"], "100755 "))
			require.NoError(w.t, os.Chmod(w.Path("a"), 0o666))
			return nil
		},
		"hooks of the index": func(w *takes) map[string]string {
			w.Write(".git/hooks/post-index-change", "#!/bin/sh\necho ran >ran\n")
			require.NoError(w.t, os.Chmod(w.Path(".git/hooks/post-index-change"), 0o777))
			w.Git("config", "core.fsmonitor", "echo ran >monitored; false")
			w.Write("n", "n\n")
			w.take()
			w.Git("config", "--unset", "core.fsmonitor")
			for _, name := range []string{"ran", "monitored"} {
				assert.NoFileExists(w.t, w.Path(name))
			}
			return nil
		},
		"an old shared index": func(w *takes) map[string]string {
			w.Git("update-index", "--split-index")
			shared, err := filepath.Glob(w.Path(".git/sharedindex.*"))
			require.NoError(w.t, err)
			require.NotEmpty(w.t, shared)
			old := time.Now().Add(-20 * 24 * time.Hour)
			require.NoError(w.t, os.Chtimes(shared[0], old, old))
			w.Git("config", "core.splitIndex", "true")
			w.Write("a", "edited\n")
			w.take()
			assert.FileExists(w.t, shared[0])
			return nil
		},
		"index version 4 without a checksum": func(w *takes) map[string]string {
			w.Git("config", "feature.manyFiles", "true")
			w.Git("update-index", "--force-write-index", "--index-version", "4")
			w.checkTaken("before")
			w.Write("n", "n\n")
			w.Git("add", "n")
			w.Git("rm", "-q", "--cached", "a")
			return nil
		},
		"the own index is damaged": func(w *takes) map[string]string {
			for _, size := range []int64{0, 100} {
				w.checkTaken("before")
				require.NoError(w.t, os.Truncate(w.Path(".git/git-checkpoint/index"), size))
			}
			return nil
		},
		"a collection prunes what only the own index knows": func(w *takes) map[string]string {
			w.Write("u", "only here\n")
			w.take()
			w.Git("prune", "--expire=now")
			w.Write("v", "more\n")
			return nil
		},
		"attributes change": func(w *takes) map[string]string {
			w.Write("t", "a\r\n")
			w.checkTaken("before")
			w.Write(".git/info/attributes", "t text\n")
			w.Write("t", "a\r\n")
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTakes(t)
			w.Write("a", "a\n")
			w.Write("d/b", "b\n")
			w.Write("e/f", "f\n")
			w.Git("add", "-A")
			w.Commit("first")
			skipped := change(w)
			found := w.checkTaken(name)
			for path, reason := range skipped {
				assert.Equal(t, reason, found[path], path)
			}
			assert.Len(t, found, len(skipped), found)
			w.checkTaken("again")
		})
	}
}

// TestTakeOfSubmodules names submodules with another commit, or with changes of their own.
func TestTakeOfSubmodules(t *testing.T) {
	t.Parallel()
	sub := gittest.Seed.New(t)
	w := newTakes(t)
	w.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub.Dir, "moved")
	w.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub.Dir, "dirty")
	w.Commit("submodules")
	assert.Empty(t, w.take().Skipped)
	w.Git("-C", "moved", "-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "--allow-empty", "-m", "more")
	w.Write("dirty/new", "x\n")
	w.Git("config", "submodule.dirty.ignore", "all")
	st := w.take()
	assert.Equal(t, []checkpoint.Skipped{{Path: "dirty", Reason: checkpoint.ChangedSubmodule}, {Path: "moved", Reason: checkpoint.MovedSubmodule}}, st.Skipped)
	assert.Equal(t, w.files("HEAD^{tree}"), w.files(st.Tree.String()))
	w.remove("dirty/.git")
	assert.Equal(t, w.files("HEAD^{tree}"), w.files(w.take().Tree.String()), "files below a submodule that lost its repository")
	w.remove("dirty")
	w.Write("dirty/.git", "gitdir: ../nowhere\n")
	st = w.take()
	assert.Equal(t, []checkpoint.Skipped{{Path: "dirty", Reason: checkpoint.NotReadable}, {Path: "moved", Reason: checkpoint.MovedSubmodule}}, st.Skipped)
	assert.Equal(t, w.files("HEAD^{tree}"), w.files(st.Tree.String()), "a damaged submodule")
}

// TestTakeOfReplacedSubmodules takes a file in place of a submodule, and names no clean submodule that
// is newer than the own index.
func TestTakeOfReplacedSubmodules(t *testing.T) {
	t.Parallel()
	sub := gittest.Seed.New(t)
	w := newTakes(t)
	w.Write("a", "a\n")
	w.Git("add", "-A")
	w.Commit("first")
	w.checkTaken("before")
	w.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub.Dir, "lib")
	w.Commit("submodule")
	st := w.take()
	assert.Empty(t, st.Skipped)
	assert.Equal(t, w.files("HEAD^{tree}"), w.files(st.Tree.String()))
	w.Git("submodule", "--quiet", "deinit", "-f", "lib")
	w.Write("lib/.gitignore", "*\n")
	w.Write("lib/file", "x\n")
	assert.Equal(t, w.files("HEAD^{tree}"), w.files(w.take().Tree.String()), "files in place of a submodule that is not checked out")
	w.remove("lib")
	w.Write("lib", "precious\n")
	assert.Equal(t, "100644 "+w.Hash("precious\n"), w.files(w.take().Tree.String())["lib"])
}

// TestTakeWithinLimits leaves out files beyond the limits of size, number and time, and names them.
func TestTakeWithinLimits(t *testing.T) {
	t.Parallel()
	w := newTakes(t)
	w.Write("tracked", "x")
	w.Git("add", "-A")
	w.Commit("first")
	large := strings.Repeat("x", 2000)
	w.Write("tracked", large)
	w.Write("large", large)
	w.Write("small", "x")
	for _, name := range []string{"many/1", "many/2", "many/3"} {
		w.Write(name, "x")
	}
	w.req = snapshot.Request{MaxFile: 1000, MaxUntracked: 4}
	files := w.files(w.take().Tree.String())
	assert.Equal(t, "100644 "+w.Hash(large), files["tracked"])
	assert.Empty(t, files["large"])
	w.req = snapshot.Request{MaxUntracked: 2}
	w.remove(".git/git-checkpoint")
	assert.Contains(t, w.take().Skipped, checkpoint.Skipped{Path: "many/", Reason: checkpoint.TooManyFiles(2)})
	w.req = snapshot.Request{MaxSize: 1500}
	w.remove(".git/git-checkpoint")
	assert.Contains(t, w.take().Skipped, checkpoint.Skipped{Path: "tracked", Size: 2000, Reason: checkpoint.OverSize})
	w.req = snapshot.Request{Budget: time.Nanosecond}
	w.remove(".git/git-checkpoint")
	st := w.take()
	assert.True(t, st.Cut)
	assert.Equal(t, w.files("HEAD"), w.files(st.Tree.String()))
}

// TestTakeOfAPathBeyondTheLimit names a directory that the system cannot open by its path.
func TestTakeOfAPathBeyondTheLimit(t *testing.T) {
	t.Parallel()
	w := newTakes(t)
	root, err := os.OpenRoot(w.Dir)
	require.NoError(t, err)
	for range 22 {
		name := strings.Repeat("d", 200)
		require.NoError(t, root.Mkdir(name, 0o777))
		below, err := root.OpenRoot(name)
		require.NoError(t, err)
		root.Close()
		root = below
	}
	require.NoError(t, root.WriteFile("leaf", []byte("leaf"), 0o666))
	root.Close()
	st := w.take()
	require.Len(t, st.Skipped, 1)
	assert.Equal(t, checkpoint.TooLong, st.Skipped[0].Reason)
	assert.True(t, strings.HasSuffix(st.Skipped[0].Path, "/"))
}

// TestTakeDry writes nothing into the git directory.
func TestTakeDry(t *testing.T) {
	t.Parallel()
	w := newTakes(t)
	w.Write("n", "n\n")
	before := w.Git("count-objects", "-v")
	w.req.DryRun = true
	assert.Len(t, w.take().Unstaged, 1)
	assert.Equal(t, before, w.Git("count-objects", "-v"))
	assert.NoDirExists(t, w.Path(".git/git-checkpoint"))
}

// TestTakesAtOnce: saves in one worktree wait for each other.
func TestTakesAtOnce(t *testing.T) {
	t.Parallel()
	w := newTakes(t)
	w.Write("n", "n\n")
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			st, err := w.try()
			if assert.NoError(t, err) {
				assert.Len(t, w.files(st.Tree.String()), 1)
			}
		})
	}
	running.Wait()
}

// TestTakeInOtherWorktrees: each worktree has an index of its own, and one that describes another
// folder is not used.
func TestTakeInOtherWorktrees(t *testing.T) {
	t.Parallel()
	w := newTakes(t)
	w.Write("a", "a\n")
	w.Git("add", "-A")
	w.Commit("first")
	w.Write("u", "here\n")
	w.checkTaken("main")
	linked := filepath.Join(t.TempDir(), "linked")
	w.Git("worktree", "add", "-q", linked)
	other := &takes{Repo: w.In(linked), t: t}
	other.Write("v", "there\n")
	assert.NotContains(t, other.files(other.take().Tree.String()), "u")
	w.checkTaken("main again")
}

// TestTakeOfAnUnmergedFileThatGitCannotStore leaves the file out: git write-tree fails for unmerged
// files.
func TestTakeOfAnUnmergedFileThatGitCannotStore(t *testing.T) {
	t.Parallel()
	w := newTakes(t)
	w.Write("a.txt", "a\n")
	w.Write("dir/b.txt", "b\n")
	w.Git("add", "-A")
	w.Commit("first")
	gittest.Conflict(w.Repo)
	w.Write(".gitattributes", "a.txt filter=fails\n")
	w.Git("config", "filter.fails.clean", "false")
	w.Git("config", "filter.fails.required", "true")
	st := w.take()
	assert.Equal(t, []string{"a.txt"}, st.Left)
	assert.NotContains(t, w.files(st.Tree.String()), "a.txt")
	assert.Contains(t, w.files(st.Tree.String()), "new.txt")
}
