package snapshot_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/snapshot"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWorktreeCapturesUnstagedChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(r *gittest.Repo) {
		for _, name := range []string{"same", "touched", "mode", "content", "tolink", "gone", "todir"} {
			r.Write(name, name+"\n")
		}
		must(os.Symlink("same", r.Path("link")))
		r.Git("add", "-A")
		r.Commit("files")
	})
	later := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(w.Path("touched"), later, later))
	require.NoError(t, os.Chmod(w.Path("mode"), 0o755))
	w.Write("content", "unstaged\n")
	w.remove("tolink")
	require.NoError(t, os.Symlink("/etc/passwd", w.Path("tolink")))
	w.remove("gone")
	w.remove("todir")
	w.Write("todir/file", "x\n")
	w.remove("link")
	require.NoError(t, os.Symlink("content", w.Path("link")))
	saved := w.captured()
	rev := saved.Commit.String()
	assert.Equal(t, []string{"content", "link", "mode", "todir/file", "tolink"}, w.unstaged(rev))
	assert.Equal(t, "unstaged", w.Git("cat-file", "blob", rev+":state/content"))
	assert.Contains(t, w.Git("ls-tree", rev+":state", "tolink", "mode"), "120000 blob "+w.Hash("/etc/passwd"))
	assert.Contains(t, w.Git("ls-tree", rev+":state", "mode"), "100755")
	assert.Equal(t, []string{"gone", "todir"}, saved.Record.Snapshot().Deleted)
	assert.Contains(t, saved.Record.Files(), checkpoint.File{Path: "tolink", Status: "typechange"})
}

// TestCaptureWithoutSymlinks checks that a changed symlink stays a symlink in the checkpoint. The
// file system has no symlinks, and a regular file contains the target.
func TestCaptureWithoutSymlinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(r *gittest.Repo) {
		for _, name := range []string{"link", "same"} {
			must(os.Symlink("a.txt", r.Path(name)))
		}
		r.Git("add", "-A")
		r.Commit("symlinks")
		r.Git("config", "core.symlinks", "false")
		for _, name := range []string{"link", "same"} {
			must(os.Remove(r.Path(name)))
		}
		r.Git("checkout", "--", "same")
		r.Write("link", "b.txt")
	})
	saved := w.captured()
	assert.Equal(t, []string{"link"}, w.unstaged(saved.Commit.String()))
	assert.Contains(t, w.Git("ls-tree", saved.Commit.String()+":state", "link"), "120000 blob "+w.Hash("b.txt"))
	assert.Contains(t, saved.Record.Files(), checkpoint.File{Path: "link", Status: "modified"})
}

// TestCaptureKeepsCarriageReturns checks that a file staged with carriage returns keeps them,
// as with git add, even if attributes convert other files of its directory.
func TestCaptureKeepsCarriageReturns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(r *gittest.Repo) {
		r.Write("dir/staged.txt", "one\r\n")
		r.Git("add", "-A")
		r.Commit("carriage returns")
		r.Git("config", "core.autocrlf", "true")
		r.Git("config", "filter.up.clean", "tr a-z A-Z")
		r.Write(".gitattributes", "*.up filter=up\n")
	})
	w.Write("dir/staged.txt", "one\r\ntwo\r\n")
	w.Write("dir/new.txt", "one\r\n")
	rev := w.captured().Commit.String()
	assert.Equal(t, "one\r\ntwo\r", w.Git("cat-file", "blob", rev+":state/dir/staged.txt"))
	assert.Equal(t, "one", w.Git("cat-file", "blob", rev+":state/dir/new.txt"))
}

func skippedPaths(saved *gitstore.Saved) []string {
	var paths []string
	for _, s := range saved.Record.Snapshot().Skipped {
		paths = append(paths, s.Path)
	}
	return paths
}

func TestUntrackedSkipsFilesWithAReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(r *gittest.Repo) {
		r.Write(".gitignore", "ignored\n")
		r.Git("add", "-A")
		r.Commit("ignore")
	})
	w.Write("ignored", "x")
	w.Write("small", "x")
	w.Write("large", strings.Repeat("x", 101))
	w.Write("GIT~1", "x")
	w.Write("\xff\"\n", "x")
	require.NoError(t, exec.Command("mkfifo", w.Path("pipe")).Run())
	require.NoError(t, os.WriteFile(w.Path("secret"), []byte("x"), 0))
	require.NoError(t, os.Mkdir(w.Path("nested"), 0o777))
	w.In(w.Path("nested")).Git("init", "-q")
	w.Write("nested/file", "x")
	saved := w.captured(func(req *gitstore.SaveRequest) { req.MaxFile = 100 })
	got := w.unstaged(saved.Commit.String())
	want, left := []string{"small", "\xff\"\n"}, []checkpoint.Skipped{
		{Path: "nested/", Reason: "a repository of its own"},
		{Path: "GIT~1", Size: 1, Reason: "a name that git refuses"},
		{Path: "large", Size: 101, Reason: "larger than 100 bytes"},
	}
	if os.Getuid() == 0 {
		want = []string{"secret", "small", "\xff\"\n"} // root can read every file
	} else {
		left = append(left, checkpoint.Skipped{Path: "secret", Size: 1, Reason: "not readable"})
	}
	assert.Equal(t, want, got)
	assert.ElementsMatch(t, left, saved.Record.Snapshot().Skipped)
}

// TestSizeLimit checks that the limit counts stored files only, not files with unchanged
// content.
func TestSizeLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(r *gittest.Repo) {
		r.Write("big", strings.Repeat("x", 1000))
		r.Git("add", "-A")
		r.Commit("big")
	})
	later := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(w.Path("big"), later, later))
	w.Write("a.txt", strings.Repeat("y", 60_000))
	w.Write("one", strings.Repeat("y", 60_000))
	w.Write("two", strings.Repeat("y", 30_000))
	saved := w.captured(func(req *gitstore.SaveRequest) { req.MaxSize = 100_000 })
	assert.Equal(t, []string{"a.txt", "two"}, w.unstaged(saved.Commit.String()))
	assert.Equal(t, []string{"one"}, skippedPaths(saved))

	w.Git("add", "a.txt", "one")
	req := w.request(checkpoint.Manual)
	req.MaxSize = 100_000
	saved = w.save(req)
	assert.Equal(t, []string{"a.txt"}, skippedPaths(saved), "one of them is enough")
	assert.Contains(t, w.paths(saved.Commit.String()+":staged"), "one")
	assert.Equal(t, w.Git("rev-parse", "HEAD:a.txt"), w.Git("rev-parse", saved.Commit.String()+":staged/a.txt"))
	w.sound()
}

// TestStagedFilesOverTheLimit checks that the staged tree has HEAD's version of removed
// files, and every other staged file.
func TestStagedFilesOverTheLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Write("dir/b.txt", strings.Repeat("x", 500_000))
	w.Write("dir/new/deep/big", strings.Repeat("x", 400_000))
	w.Write("dir/new/small", "x")
	w.Write("sub.txt", "y")
	w.remove("a.txt")
	w.Git("add", "-A")
	req := w.request(checkpoint.Manual)
	req.Staged, req.MaxSize = true, 300_000
	saved := w.save(req)
	rev := saved.Commit.String()
	assert.Equal(t, []checkpoint.Skipped{
		{Path: "dir/b.txt", Size: 500_000, Reason: checkpoint.OverSize},
		{Path: "dir/new/deep/big", Size: 400_000, Reason: checkpoint.OverSize},
	}, saved.Record.Snapshot().Skipped)
	assert.Equal(t, w.Git("rev-parse", "HEAD:dir/b.txt"), w.Git("rev-parse", rev+":staged/dir/b.txt"))
	assert.Equal(t, "", w.Git("ls-tree", rev+":staged/dir/new", "deep"))
	assert.Equal(t, "D\ta.txt\nA\tdir/new/small\nA\tsub.txt", w.Git("diff", "--no-renames", "--name-status", "HEAD", rev+":staged"))
	assert.Positive(t, saved.Omitted)
	w.sound()

	w.Git("rm", "-rfq", "--cached", ".")
	w.Git("add", "-f", "dir/new/deep/big")
	saved = w.save(req)
	assert.Empty(t, w.Git("ls-tree", saved.Commit.String()+":staged"))
	assert.Equal(t, []string{"dir/new/deep/big"}, skippedPaths(saved))
	w.sound()
}

// TestManyFilesAreCounted checks that a record lists MaxListed paths and counts the rest.
func TestManyFilesAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range snapshot.MaxListed + 5 {
		w.Write(gittest.GeneratedPath(i), "xx")
	}
	saved := w.captured(func(req *gitstore.SaveRequest) { req.MaxFile = 1 })
	skipped := saved.Record.Snapshot().Skipped
	require.Len(t, skipped, snapshot.MaxListed+1)
	assert.Equal(t, checkpoint.Skipped{Path: ".", Reason: "5 more files"}, skipped[snapshot.MaxListed])
	saved = w.captured()
	assert.Len(t, saved.Record.Files(), snapshot.MaxListed)
	assert.Equal(t, snapshot.MaxListed+5, saved.Files)
}

// TestDiffOfAFile checks that the worktree file is the old side, and the checkpoint's version the
// new side.
func TestDiffOfAFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Write("new", "theirs\n")
	saved := w.captured()
	diff := func() string {
		got, err := w.s.Files.Diff(ctx, &saved.Checkpoint, "new")
		require.NoError(t, err)
		return got
	}
	assert.Empty(t, diff())
	w.Write("new", "mine\n")
	assert.Contains(t, diff(), "--- mine/new\n+++ checkpoint/new\n@@ -1 +1 @@\n-mine\n+theirs\n")
	w.remove("new")
	assert.Contains(t, diff(), "--- /dev/null\n+++ checkpoint/new\n@@ -0,0 +1 @@\n+theirs\n")
	must(os.Symlink("/etc", w.Path("new")))
	assert.Contains(t, diff(), "+theirs\n")
	saved = w.captured()
	w.remove("new")
	must(os.Symlink("/usr", w.Path("new")))
	assert.Contains(t, diff(), "-/usr\n\\ No newline at end of file\n+/etc\n")
	w.remove("new")
	saved = w.captured()
	w.Write("new", "mine\n")
	assert.Contains(t, diff(), "--- mine/new\n+++ /dev/null\n@@ -1 +0,0 @@\n-mine\n")
}

// TestCaptureBudget checks that unread files are recorded after the time limit, and that
// staged and named files are saved.
func TestCaptureBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Write("a.txt", "changed\n")
	w.Write("new", "x")
	w.Write("named", "x")
	saved := w.captured(func(req *gitstore.SaveRequest) { req.Budget, req.Artifacts = 1, []string{"named"} })
	assert.Equal(t, []string{"named"}, w.unstaged(saved.Commit.String()))
	skipped := saved.Record.Snapshot().Skipped
	assert.NotEmpty(t, skipped)
	for _, s := range skipped { // a list that was not read is the path "."
		assert.Contains(t, []string{".", "a.txt", "named", "new"}, s.Path)
		assert.Equal(t, snapshot.OutOfTime, s.Reason, s.Path)
	}

	saved = w.captured(func(req *gitstore.SaveRequest) { req.Budget = time.Hour })
	assert.Equal(t, []string{"a.txt", "named", "new"}, w.unstaged(saved.Commit.String()))
	assert.Empty(t, saved.Record.Snapshot().Skipped)

	w.Write("named", "edited\n")
	saved = w.captured(func(req *gitstore.SaveRequest) { req.Budget, req.Artifacts = 1, []string{"named"} })
	assert.Equal(t, "edited", w.Git("cat-file", "blob", saved.Commit.String()+":state/named"), "a named file that the own index knows")
}
