//go:build linux || darwin

package snapshot_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/index"
	"git-checkpoint/gitstore/internal/snapshot"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// statCachePath is the file of the stat cache in a repository.
const statCachePath = ".git/git-checkpoint/stat-cache"

// newCachedWorld returns a world with a touched file, a changed file and untracked files, and
// a stat cache that knows them.
func newCachedWorld(t *testing.T, setup ...func(*gittest.Repo)) *world {
	t.Helper()
	w := newWorld(t, append([]func(*gittest.Repo){func(r *gittest.Repo) {
		r.Write("dir/touched.txt", "one\n")
		r.Write("dir/changed.txt", "two\n")
		r.Write("dir/carriage.txt", "three\r\n")
		r.Git("add", "-A")
		r.Commit("files")
	}}, setup...)...)
	w.Write("dir/changed.txt", "TWO\n")
	w.Write("new/untracked.txt", "four\n")
	w.Write("new/carriage.txt", "five\r\n")
	must(os.Chtimes(w.Path("dir/touched.txt"), settled, settled))
	must(os.Chtimes(w.Path("dir/carriage.txt"), settled, settled))
	time.Sleep(60 * time.Millisecond) // no file is racy
	w.captured()
	require.Subset(t, snapshot.CachedPaths(w.Path(statCachePath)),
		[]string{"dir/carriage.txt", "dir/changed.txt", "dir/touched.txt", "new/carriage.txt", "new/untracked.txt"})
	return w
}

// reopen opens the store again, because a store reads git's settings once.
func (w *world) reopen() {
	w.t.Helper()
	s, err := gitstore.Open(ctx, gitstore.Options{Dir: w.Dir})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { s.Close() })
	w.s = s
}

// content returns a file of a checkpoint.
func (w *world) content(saved *gitstore.Saved, file string) string {
	w.t.Helper()
	return string(w.Pipe(nil, "cat-file", "blob", saved.Commit.String()+":"+file))
}

func TestChangedFileWithOldTimeIsRead(t *testing.T) {
	t.Parallel()
	w := newCachedWorld(t)
	for _, file := range []string{"dir/touched.txt", "dir/changed.txt", "new/untracked.txt"} {
		info, err := os.Stat(w.Path(file))
		require.NoError(t, err)
		w.Write(file, strings.ToUpper(w.Read(file)[:1])+"xy"+w.Read(file)[3:])
		must(os.Chtimes(w.Path(file), info.ModTime(), info.ModTime()))
	}
	saved := w.captured()
	assert.Equal(t, "Oxy\n", w.content(saved, "worktree/dir/touched.txt"))
	assert.Equal(t, "Txy\n", w.content(saved, "worktree/dir/changed.txt"))
	assert.Equal(t, "Fxyr\n", w.content(saved, "untracked/new/untracked.txt"))
}

// TestStatCacheFollowsConversions changes after a save how git converts files whose stat data
// stay the same.
func TestStatCacheFollowsConversions(t *testing.T) {
	t.Parallel()
	filter := func(place string) func(*world) {
		return func(w *world) { w.Write(place, "*.txt filter=up\n") }
	}
	upper := map[string]string{"worktree/dir/touched.txt": "ONE\n", "untracked/new/untracked.txt": "FOUR\n", "untracked/new/carriage.txt": "FIVE\r\n"}
	for name, c := range map[string]struct {
		change func(*world)
		want   map[string]string
	}{
		"root":      {filter(".gitattributes"), upper},
		"directory": {filter("dir/.gitattributes"), map[string]string{"worktree/dir/touched.txt": "ONE\n", "untracked/new/untracked.txt": "four\n"}},
		"untracked": {filter("new/.gitattributes"), map[string]string{"worktree/dir/changed.txt": "TWO\n", "untracked/new/untracked.txt": "FOUR\n"}},
		"info":      {filter(".git/info/attributes"), upper},
		"configured": {func(w *world) {
			w.Write("../attributes", "*.txt filter=up\n")
			w.Git("config", "core.attributesFile", w.Path("../attributes"))
		}, upper},
		"autocrlf":  {func(w *world) { w.Git("config", "core.autocrlf", "true") }, map[string]string{"untracked/new/carriage.txt": "five\n"}},
		"text":      {func(w *world) { w.Write(".gitattributes", "*.txt text\n") }, map[string]string{"untracked/new/carriage.txt": "five\n", "worktree/dir/carriage.txt": "three\n"}},
		"same":      {func(*world) {}, map[string]string{"untracked/new/untracked.txt": "four\n", "worktree/dir/changed.txt": "TWO\n"}},
		"no effect": {filter("other/.gitattributes"), map[string]string{"untracked/new/untracked.txt": "four\n", "worktree/dir/changed.txt": "TWO\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCachedWorld(t, func(r *gittest.Repo) {
				r.Git("config", "filter.up.clean", "tr a-z A-Z")
			})
			c.change(w)
			w.reopen()
			saved := w.captured()
			for file, want := range c.want {
				assert.Equal(t, want, w.content(saved, file), file)
			}
		})
	}
}

// TestFilterThatChangesIsFollowed checks that a file is read again if a filter applies to
// other content than before.
func TestFilterThatChangesIsFollowed(t *testing.T) {
	t.Parallel()
	w := newCachedWorld(t, func(r *gittest.Repo) {
		r.Git("config", "filter.up.clean", "cat")
		r.Write(".gitattributes", "*.txt filter=up\n")
	})
	w.Git("config", "filter.up.clean", "tr a-z A-Z")
	w.reopen()
	assert.Equal(t, "FOUR\n", w.content(w.captured(), "untracked/new/untracked.txt"))
}

// TestConvertedFilesAreNotCached checks that a file whose blob is not its content goes through
// its filter in each save: git-lfs also stores the content of the file.
func TestConvertedFilesAreNotCached(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(r *gittest.Repo) {
		r.Git("config", "filter.up.clean", "tr a-z A-Z")
		r.Write(".gitattributes", "*.up filter=up\n")
		r.Git("add", "-A")
		r.Commit("attributes")
	})
	w.Write("x.up", "x\n")
	w.Write("x.txt", "x\n")
	time.Sleep(60 * time.Millisecond)
	w.captured()
	paths := snapshot.CachedPaths(w.Path(statCachePath))
	assert.Contains(t, paths, "x.txt")
	assert.NotContains(t, paths, "x.up")
}

// TestStagedCarriageReturnsAreFollowed stages another content of a file, so that git add would
// convert the file of the worktree.
func TestStagedCarriageReturnsAreFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(r *gittest.Repo) {
		r.Write("x", "one\r\n")
		r.Git("add", "-A")
		r.Commit("carriage returns")
		r.Git("config", "core.autocrlf", "true")
	})
	w.Write("x", "one\r\ntwo\r\n")
	time.Sleep(60 * time.Millisecond)
	assert.Equal(t, "one\r\ntwo\r\n", w.content(w.captured(), "worktree/x"))
	w.Git("update-index", "--cacheinfo", "100644,"+w.Hash("one\n")+",x")
	assert.Equal(t, "one\ntwo\n", w.content(w.captured(), "worktree/x"))
}

// TestRacyFilesAreNotCached checks the times of a file that the cache accepts.
func TestRacyFilesAreNotCached(t *testing.T) {
	read := time.Unix(1_800_000_000, 500_000_000)
	at := func(d time.Duration) index.Time {
		when := read.Add(d)
		return index.Time{Sec: uint32(when.Unix()), Nsec: uint32(when.Nanosecond())}
	}
	second := func(d time.Duration) index.Time { return index.Time{Sec: at(d).Sec} }
	old := at(-time.Hour)
	for _, c := range []struct {
		ctime, mtime index.Time
		want         bool
	}{
		{at(-time.Minute), old, true},
		{at(-25 * time.Millisecond), old, true},
		{at(-15 * time.Millisecond), old, false},
		{at(0), old, false},
		{at(time.Millisecond), old, false},
		{old, at(0), false},
		{old, at(time.Hour), false},
		{second(0), second(0), false},
		{second(-time.Second), second(-time.Second), false},
		{second(-3 * time.Second), second(-3 * time.Second), true},
	} {
		assert.Equal(t, c.want, snapshot.Caches(index.Stat{CTime: c.ctime, MTime: c.mtime}, read), "%v %v", c.ctime, c.mtime)
	}
	assert.False(t, snapshot.Caches(index.Stat{CTime: old, MTime: old}, time.Time{}), "without a clock")
}

// TestDamagedStatCacheIsEmpty checks that a save takes no blob from a cache that was damaged,
// or written by another version.
func TestDamagedStatCacheIsEmpty(t *testing.T) {
	t.Parallel()
	w := newCachedWorld(t)
	good, err := os.ReadFile(w.Path(statCachePath))
	require.NoError(t, err)
	wrong := w.Hash("wrong\n")
	blob := func(data []byte) int { return bytes.Index(data, []byte("new/untracked.txt")) - 2 - len(wrong)/2 }
	damages := map[string]func([]byte) []byte{
		"cut":     func(b []byte) []byte { return b[:len(b)-1] },
		"short":   func(b []byte) []byte { return b[:5] },
		"empty":   func([]byte) []byte { return nil },
		"zeros":   func(b []byte) []byte { return make([]byte, len(b)) },
		"flipped": func(b []byte) []byte { b[blob(b)] ^= 1; return b },
		"longer":  func(b []byte) []byte { return append(b, 0) },
		"version": func(b []byte) []byte { b[blob(b)] ^= 1; b[4]++; return summed(b) },
		"format":  func(b []byte) []byte { b[blob(b)] ^= 1; b[5]++; return summed(b) },
		"count":   func(b []byte) []byte { b[blob(b)] ^= 1; b[6] = 0xff; return summed(b) },
		"more":    func(b []byte) []byte { b[blob(b)] ^= 1; b[9]++; return summed(b) },
	}
	for name, damage := range damages {
		must(os.WriteFile(w.Path(statCachePath), damage(slices.Clone(good)), 0o600))
		assert.Empty(t, snapshot.CachedPaths(w.Path(statCachePath)), name)
		saved := w.captured()
		assert.Equal(t, "four\n", w.content(saved, "untracked/new/untracked.txt"), name)
		assert.Contains(t, snapshot.CachedPaths(w.Path(statCachePath)), "new/untracked.txt", "%s: the save repairs it", name)
	}
	must(os.Remove(w.Path(statCachePath)))
	must(os.Mkdir(w.Path(statCachePath), 0o777))
	assert.Equal(t, "four\n", w.content(w.captured(), "untracked/new/untracked.txt"), "a directory in its place")
}

// summed replaces the checksum of a cache.
func summed(data []byte) []byte {
	end := len(data) - sha256.Size
	sum := sha256.Sum256(data[:end])
	return append(data[:end], sum[:]...)
}

// TestBlobThatGCRemovedIsWrittenAgain drops the only chain with the untracked files while the
// stat cache knows them.
func TestBlobThatGCRemovedIsWrittenAgain(t *testing.T) {
	t.Parallel()
	w := newCachedWorld(t)
	blob := w.Hash("four\n")
	for _, ref := range strings.Fields(w.Git("for-each-ref", "--format=%(refname)", "refs/checkpoints", "refs/git-checkpoint")) {
		w.Git("update-ref", "-d", ref)
	}
	w.Git("reflog", "expire", "--expire=now", "--all")
	w.Git("gc", "-q", "--prune=now")
	_, err := w.Run(nil, "cat-file", "-e", blob)
	require.Error(t, err, "gc has removed the blob")
	w.reopen()
	req := w.request(checkpoint.Manual)
	req.Issue, req.Worktree, req.Untracked = "43", true, true
	saved := w.save(req)
	assert.Equal(t, "four\n", w.content(saved, "untracked/new/untracked.txt"))
	assert.Equal(t, "TWO\n", w.content(saved, "worktree/dir/changed.txt"))
	w.Git("fsck", "--connectivity-only", saved.Commit.String())
}

// TestSavesAtOnceShareTheStatCache saves to several issues at once.
func TestSavesAtOnceShareTheStatCache(t *testing.T) {
	t.Parallel()
	w := newCachedWorld(t)
	var wait sync.WaitGroup
	errs := make([]error, 4)
	for n := range errs {
		s, err := gitstore.Open(ctx, gitstore.Options{Dir: w.Dir})
		require.NoError(t, err)
		t.Cleanup(func() { s.Close() })
		wait.Go(func() {
			for round := range 5 {
				must(os.WriteFile(w.Path(fmt.Sprintf("new/%d-%d", n, round)), fmt.Appendf(nil, "%d %d\n", n, round), 0o666))
				req := w.request(checkpoint.Manual)
				req.Issue, req.Worktree, req.Untracked = checkpoint.Issue(fmt.Sprint(50+n)), true, true
				if _, err := s.Save(ctx, req); err != nil {
					errs[n] = err
				}
			}
		})
	}
	wait.Wait()
	assert.Equal(t, make([]error, 4), errs)
	time.Sleep(60 * time.Millisecond)
	saved := w.captured()
	for n := range errs {
		for round := range 5 {
			assert.Equal(t, fmt.Sprintf("%d %d\n", n, round), w.content(saved, fmt.Sprintf("untracked/new/%d-%d", n, round)))
		}
	}
	assert.Contains(t, snapshot.CachedPaths(w.Path(statCachePath)), "new/untracked.txt")
	left, err := os.ReadDir(w.Path(".git/git-checkpoint"))
	require.NoError(t, err)
	for _, file := range left {
		assert.NotContains(t, file.Name(), ".tmp-")
	}
}

// TestPartialSaveKeepsTheStatCache checks that a save without untracked files does not forget
// them, and that a dry run writes nothing.
func TestPartialSaveKeepsTheStatCache(t *testing.T) {
	t.Parallel()
	w := newCachedWorld(t)
	before, err := os.Stat(w.Path(statCachePath))
	require.NoError(t, err)
	w.Write("dir/touched.txt", "other\n")
	time.Sleep(60 * time.Millisecond)
	dry := w.request(checkpoint.Manual)
	dry.Worktree, dry.Untracked, dry.DryRun = true, true, true
	w.save(dry)
	after, err := os.Stat(w.Path(statCachePath))
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after))
	w.captured(func(req *gitstore.SaveRequest) { req.Untracked = false })
	paths := snapshot.CachedPaths(w.Path(statCachePath))
	assert.Contains(t, paths, "new/untracked.txt")
	assert.Contains(t, paths, "dir/touched.txt")
	for n := range 30 {
		w.Write(fmt.Sprintf("more/%d", n), "more\n")
	}
	time.Sleep(60 * time.Millisecond)
	w.captured()
	assert.Contains(t, snapshot.CachedPaths(w.Path(statCachePath)), "more/1")
	w.remove("more")
	w.captured()
	assert.NotContains(t, snapshot.CachedPaths(w.Path(statCachePath)), "more/1", "files of the past are forgotten")
}

// TestStatCacheAgreesWithReading changes files, times, attributes and settings at random, and
// compares saves with and without the stat cache.
func TestStatCacheAgreesWithReading(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	seed := uint64(gittest.Day())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	w := newCachedWorld(t, func(r *gittest.Repo) { r.Git("config", "filter.up.clean", "tr a-z A-Z") })
	files := []string{"a.txt", "dir/b.txt", "dir/touched.txt", "dir/carriage.txt", "new/untracked.txt", "new/carriage.txt", "new/deep/x.txt"}
	texts := []string{"one\n", "two\n", "one\r\n", "two\r\n", "one\r\ntwo\n"}
	attributes := []string{"", "*.txt filter=up\n", "*.txt text\n", "* text=auto\n", "b.txt filter=up\n"}
	for round := range 60 {
		file := w.Path(files[random.IntN(len(files))])
		must(os.MkdirAll(filepath.Dir(file), 0o777))
		switch random.IntN(12) {
		case 0, 1:
			must(os.WriteFile(file, []byte(texts[random.IntN(len(texts))]), 0o666))
		case 2, 3: // the same time
			must(os.WriteFile(file, []byte(texts[random.IntN(len(texts))]), 0o666))
			must(os.Chtimes(file, settled, settled))
		case 4:
			os.Chmod(file, 0o755)
		case 5:
			os.Remove(file)
		case 6:
			w.Git("add", "-A")
		case 7:
			w.Git("status")
		case 8:
			place := []string{".gitattributes", "dir/.gitattributes", "new/.gitattributes", ".git/info/attributes"}[random.IntN(4)]
			w.Write(place, attributes[random.IntN(len(attributes))])
		case 9:
			w.Git("config", "core.autocrlf", []string{"true", "false", "input"}[random.IntN(3)])
		case 10:
			w.Git("config", "filter.up.clean", []string{"cat", "tr a-z A-Z"}[random.IntN(2)])
		case 11:
			time.Sleep(30 * time.Millisecond)
		}
		w.reopen()
		with := w.Git("rev-parse", w.captured().Commit.String()+"^{tree}")
		cache, err := os.ReadFile(w.Path(statCachePath))
		require.NoError(t, err)
		must(os.Remove(w.Path(statCachePath)))
		without := w.Git("rev-parse", w.captured().Commit.String()+"^{tree}")
		require.Empty(t, w.Git("diff", "--stat", with, without, "--", "worktree", "untracked", "staged"), "round %d", round)
		must(os.WriteFile(w.Path(statCachePath), cache, 0o600))
	}
}
