package index

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mixed returns a repository with 300 index entries of all kinds.
func mixed(t *testing.T) *gittest.Repo {
	r := gittest.New(t)
	var names []string
	for i := range 290 {
		names = append(names, fmt.Sprintf("d%d/f%d", i%7, i))
	}
	stage(r, names...)
	r.Write("here", "in the worktree\n")
	past := gittest.Epoch.Add(123456789)
	require.NoError(t, os.Chtimes(r.Path("here"), past, past))
	r.Git("add", "here")
	one := r.Hash("1")
	info(
		r, unmerged("1", one, "d3/both"), unmerged("2", one, "d3/both"), unmerged("3", one, "d3/both"),
		unmerged("1", one, "d3/theirs-deleted"), unmerged("2", one, "d3/theirs-deleted"), unmerged("3", one, "z-added"),
	)
	for _, n := range []string{"d3/new", "new"} {
		r.Write(n, "new\n")
		r.Git("add", "-N", n)
	}
	r.Git("update-index", "--skip-worktree", "d1/f1")
	r.Git("update-index", "--assume-unchanged", "d2/f2")
	return r
}

func TestAllEqualsLsFiles(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	r := mixed(t)
	for _, version := range []string{"2", "4"} {
		r.Git("update-index", "--index-version", version, "--force-write-index")
		for way := range ways {
			x := openWay(t, r.GitPath("index"), way)
			var got []string
			for e := range x.All() {
				got = append(got, fmt.Sprintf("%06o %s %d\t%s", uint32(e.Mode), e.Hash, e.Stage, e.Path))
			}
			require.NoError(t, x.Err())
			want := strings.Split(strings.TrimSuffix(string(r.Pipe(nil, "ls-files", "-s", "-z")), "\x00"), "\x00")
			assert.Equal(t, want, got, "version %s, %s", version, way)
			assert.Equal(t, len(want), x.Len())
		}
	}
}

func TestAllStopsEarly(t *testing.T) {
	t.Parallel()
	x, err := openBytes(t, encode(2, paths("a", "b", "c")))
	require.NoError(t, err)
	for e := range x.All() {
		if e.Path == "b" {
			break
		}
		assert.Equal(t, "a", e.Path)
	}
	assert.NoError(t, x.Err())
}

func TestEntry(t *testing.T) {
	t.Parallel()
	r := mixed(t)
	x := openWay(t, r.GitPath("index"), "mapped")
	here := x.Lookup("here")
	require.Len(t, here, 1)
	stat, err := os.Stat(r.Path("here"))
	require.NoError(t, err)
	assert.Equal(t, Time{uint32(stat.ModTime().Unix()), uint32(stat.ModTime().Nanosecond())}, here[0].MTime)
	assert.Equal(t, uint32(stat.Size()), here[0].Size)
	debug := r.Git("ls-files", "--debug", "here")
	assert.Contains(t, debug, fmt.Sprintf("ctime: %d:%d\n", here[0].CTime.Sec, here[0].CTime.Nsec))
	assert.Contains(t, debug, fmt.Sprintf("dev: %d\tino: %d\n", here[0].Dev, here[0].Ino))
	assert.Contains(t, debug, fmt.Sprintf("uid: %d\tgid: %d\n", here[0].UID, here[0].GID))

	assert.True(t, x.Lookup("d1/f1")[0].SkipWorktree)
	assert.True(t, x.Lookup("d2/f2")[0].AssumeValid)
	assert.True(t, x.Lookup("new")[0].IntentToAdd)
	assert.False(t, here[0].SkipWorktree || here[0].AssumeValid || here[0].IntentToAdd)
	index, err := os.Stat(r.GitPath("index"))
	require.NoError(t, err)
	assert.Equal(t, index.ModTime(), x.ModTime())
}

func TestLookupFindsEverything(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	r := mixed(t)
	for _, version := range []string{"2", "4"} {
		r.Git("update-index", "--index-version", version, "--force-write-index")
		x := openWay(t, r.GitPath("index"), "mapped")
		want := map[string][]Entry{}
		for e := range x.All() {
			want[e.Path] = append(want[e.Path], e)
		}
		for path, entries := range want {
			assert.Equal(t, entries, x.Lookup(path))
			for _, near := range []string{path + "\x01", path[:len(path)-1], path + "/", " " + path} {
				assert.Equal(t, want[near], x.Lookup(near), near)
			}
		}
		require.Len(t, want["d3/both"], 3)
		require.NoError(t, x.Err())
	}
}

// Lookup returns all stages of a path near a mark, which occurs every 64 entries.
func TestLookupAcrossMarks(t *testing.T) {
	t.Parallel()
	for n := 60; n < 70; n++ {
		var entries []raw
		for i := range n {
			entries = append(entries, raw{path: "a" + strconv.Itoa(1000+i)})
		}
		for stage := 1; stage <= 3; stage++ {
			entries = append(entries, raw{path: "b", stage: stage})
		}
		entries = append(entries, paths("c")...)
		for _, version := range []int{2, 4} {
			x, err := openBytes(t, encode(version, entries))
			require.NoError(t, err)
			assert.Len(t, x.Lookup("b"), 3)
			assert.Len(t, x.Lookup("c"), 1)
			assert.Empty(t, x.Lookup("d"))
		}
	}
}

func TestSpecial(t *testing.T) {
	t.Parallel()
	r := mixed(t)
	x := openWay(t, r.GitPath("index"), "mapped")
	conflicts, toAdd := x.Special()
	assert.Equal(t, []string{"d3/new", "new"}, toAdd)
	var want []Entry
	for e := range x.All() {
		if e.Stage != 0 {
			want = append(want, e)
		}
	}
	assert.Equal(t, want, conflicts)
	assert.Len(t, conflicts, 6)
}

// Entries remain valid after Close.
func TestEntriesRemainValidAfterClose(t *testing.T) {
	t.Parallel()
	x, err := open(file(t, encode(2, paths("a", "b"))), 1)
	require.NoError(t, err)
	entries := slices.Collect(x.All())
	require.NoError(t, x.Close())
	assert.Equal(t, "b", entries[1].Path)
	assert.Empty(t, x.Lookup("b"))
	assert.Zero(t, x.Len())
}
