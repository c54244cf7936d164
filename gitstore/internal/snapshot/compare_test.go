//go:build linux || darwin

package snapshot_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/index"
	"git-checkpoint/gitstore/internal/snapshot"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// settled is a time at which git trusts the stat data of files.
var settled = time.Now().Add(-time.Hour).Truncate(time.Second).Add(123456789)

// newSettledWorld returns a world whose index has the stat data of all files.
func newSettledWorld(t *testing.T) *world {
	w := newWorld(t, func(r *gittest.Repo) {
		r.Write("dir/deep/c.txt", "three\n")
		r.Write("dir/deep/d.txt", "four\n")
		r.Write("empty", "")
		r.Write("run", "x\n")
		must(os.Chmod(r.Path("run"), 0o755))
		must(os.Symlink("a.txt", r.Path("link")))
		r.Git("add", "-A")
		r.Commit("files")
	})
	w.settle()
	return w
}

// settle gives all files an old time and refreshes the index.
func (w *world) settle() {
	for _, name := range w.paths("HEAD") {
		if name != "link" {
			must(os.Chtimes(w.Path(name), settled, settled))
		}
	}
	time.Sleep(1100 * time.Millisecond) // the symlink has the current time
	w.Git("update-index", "-q", "--refresh")
	w.Git("update-index", "--force-write-index")
	require.Empty(w.t, w.byGit())
}

// byGit returns the files that git lists.
func (w *world) byGit() []string {
	return slices.DeleteFunc(strings.Split(strings.ReplaceAll(w.Git("diff-files", "--name-status"), "\t", " "), "\n"), func(s string) bool { return s == "" })
}

func (w *world) compared(config ...git.ConfigEntry) ([]string, bool) {
	list, own, err := snapshot.CompareFiles(w.Dir, w.Path(".git/index"), config)
	if own {
		require.NoError(w.t, err)
	}
	return list, own
}

// keepTimes restores a file's mtime after a change.
func (w *world) keepTimes(path string, change func()) {
	change()
	must(os.Chtimes(w.Path(path), settled, settled))
}

// TestComparesFilesAsGitDoes checks for each change of a worktree that the comparison lists
// the files that git lists.
func TestComparesFilesAsGitDoes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	w := newSettledWorld(t)
	cases := map[string]func(){
		"nothing":                func() {},
		"content":                func() { w.Write("a.txt", "changed\n") },
		"same length, old time":  func() { w.keepTimes("a.txt", func() { w.Write("a.txt", "two\n") }) },
		"touched":                func() { must(os.Chtimes(w.Path("dir/b.txt"), time.Now(), time.Now())) },
		"executable":             func() { must(os.Chmod(w.Path("dir/b.txt"), 0o755)) },
		"not executable":         func() { must(os.Chmod(w.Path("run"), 0o644)) },
		"no longer empty":        func() { w.keepTimes("empty", func() { w.Write("empty", "x") }) },
		"another link":           func() { w.remove("link"); must(os.Symlink("b.txt", w.Path("link"))) },
		"a link becomes a file":  func() { w.remove("link"); w.Write("link", "a.txt") },
		"a file becomes a link":  func() { w.remove("a.txt"); must(os.Symlink("run", w.Path("a.txt"))) },
		"a directory of files":   func() { w.remove("a.txt"); w.Write("a.txt/file", "x") },
		"a missing file":         func() { w.remove("dir/deep/c.txt") },
		"a missing directory":    func() { must(os.RemoveAll(w.Path("dir"))) },
		"a file for a directory": func() { must(os.RemoveAll(w.Path("dir"))); w.Write("dir", "x") },
		"a moved directory": func() {
			must(os.Rename(w.Path("dir/deep"), w.Path("moved")))
			must(os.Symlink("../moved", w.Path("dir/deep")))
		},
		"several": func() { w.Write("run", "y\n"); w.remove("empty"); w.Write("dir/deep/d.txt", "y\n") },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			must(os.RemoveAll(w.Path("moved")))
			w.Git("reset", "-q", "--hard")
			w.Git("clean", "-fdq")
			w.settle()
			change()
			got, own := w.compared()
			assert.True(t, own)
			assert.Equal(t, w.byGit(), append([]string{}, got...))
			if name != "nothing" {
				assert.NotEmpty(t, got)
			}
		})
	}
}

// TestFilesAsNewAsTheIndexCount checks that a file may have changed if it is not older than
// the index, because stat data alone cannot tell.
func TestFilesAsNewAsTheIndexCount(t *testing.T) {
	t.Parallel()
	w := newSettledWorld(t)
	written, err := os.Stat(w.Path(".git/index"))
	require.NoError(t, err)
	w.Write("a.txt", "same size\n")
	must(os.Chtimes(w.Path("a.txt"), written.ModTime(), written.ModTime()))
	w.Git("add", "a.txt")
	for later, want := range map[time.Duration][]string{0: {"M a.txt"}, time.Nanosecond: {"M a.txt"}, 2 * time.Second: nil} {
		must(os.Chtimes(w.Path(".git/index"), written.ModTime().Add(later), written.ModTime().Add(later)))
		got, own := w.compared()
		assert.True(t, own)
		assert.Equal(t, want, got, later)
	}
}

// TestTrustedStatData checks entries that git has marked as doubtful by a size of 0, and
// entries of programs that record whole seconds.
func TestTrustedStatData(t *testing.T) {
	t.Parallel()
	full := index.Stat{CTime: index.Time{Sec: 90, Nsec: 1}, MTime: index.Time{Sec: 80, Nsec: 2}, Ino: 3, Size: 4}
	seconds := full
	seconds.CTime.Nsec, seconds.MTime.Nsec = 0, 0
	none := full
	none.Size = 0
	content, empty := plumbing.ComputeHash(plumbing.BlobObject, []byte("x")), plumbing.ComputeHash(plumbing.BlobObject, nil)
	for _, c := range []struct {
		name     string
		recorded index.Stat
		hash     plumbing.Hash
		now      index.Stat
		want     bool
	}{
		{"equal", full, content, full, true},
		{"another inode", full, content, index.Stat{CTime: full.CTime, MTime: full.MTime, Ino: 4, Size: 4}, false},
		{"whole seconds", seconds, content, full, true},
		{"an empty file", none, empty, none, true},
		{"doubtful", none, content, none, false},
	} {
		e := index.Entry{Mode: filemode.Regular, Hash: c.hash, Stat: c.recorded}
		assert.Equal(t, c.want, snapshot.Trusts(e, c.now, time.Unix(100, 0)), c.name)
	}
}

// TestGitComparesUnusualFiles checks that git compares files in all cases in which its
// rules depend on more than stat data.
func TestGitComparesUnusualFiles(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *world){
		"intent to add":    func(w *world) { w.Write("new", "x"); w.Git("add", "-N", "new") },
		"skip-worktree":    func(w *world) { w.Git("update-index", "--skip-worktree", "a.txt") },
		"assume-unchanged": func(w *world) { w.Git("update-index", "--assume-unchanged", "a.txt") },
		"a split index":    func(w *world) { w.Git("update-index", "--split-index") },
		"a submodule": func(w *world) {
			w.Git("update-index", "--add", "--cacheinfo", "160000,"+w.Git("rev-parse", "HEAD")+",module")
		},
		"a conflict": func(w *world) {
			hash := w.Git("rev-parse", "HEAD:a.txt")
			w.Pipe([]byte("0 "+strings.Repeat("0", len(hash))+"\ta.txt\n100644 "+hash+" 2\ta.txt\n"), "update-index", "--index-info")
		},
		"a damaged index": func(w *world) { w.Write(".git/index", "DIRC") },
		"many changes": func(w *world) {
			for i := range snapshot.MaxCompared + 1 {
				w.Write(fmt.Sprintf("many/%d", i), "x")
			}
			w.Git("add", "-A")
			must(os.RemoveAll(w.Path("many")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			change(w)
			_, own := w.compared()
			assert.False(t, own)
		})
	}
	w := newWorld(t)
	for _, setting := range []git.ConfigEntry{
		{Key: "core.filemode", Value: "false"}, {Key: "core.symlinks", Value: "false"}, {Key: "core.fsmonitor", Value: "true"},
	} {
		_, own := w.compared(setting)
		assert.False(t, own, setting.Key)
	}
	_, own := w.compared()
	assert.True(t, own, "the settings make the difference")
	must(os.Remove(w.Path(".git/index")))
	got, own := w.compared()
	assert.True(t, own)
	assert.Empty(t, got, "no index")
}
