package index

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// all contains every object.
type all struct{}

func (all) Has(plumbing.Hash) bool { return true }

// A set contains some objects.
type set map[plumbing.Hash]bool

func (s set) Has(h plumbing.Hash) bool { return s[h] }

// objectsOf returns the objects of a repository.
func objectsOf(r *gittest.Repo) set {
	s := set{}
	for _, line := range strings.Fields(r.Git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")) {
		s[plumbing.NewHash(line)] = true
	}
	return s
}

// A sink stores trees.
type sink map[plumbing.Hash][]byte

func (s sink) Add(t plumbing.ObjectType, b []byte) plumbing.Hash {
	h := plumbing.ComputeHash(t, b)
	s[h] = b
	return h
}

// ways are the two methods to load a file, by mapThreshold.
var ways = map[string]int64{"mapped": 1, "read": 1 << 40}

func openWay(t testing.TB, path, way string) *Index {
	t.Helper()
	x, err := open(path, ways[way])
	require.NoError(t, err)
	t.Cleanup(func() { x.Close() })
	return x
}

// file writes an index to a temporary file.
func file(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "index")
	require.NoError(t, os.WriteFile(path, data, 0o644))
	return path
}

func openBytes(t testing.TB, data []byte) (*Index, error) {
	t.Helper()
	x, err := Open(file(t, data))
	if err == nil {
		t.Cleanup(func() { x.Close() })
	}
	return x, err
}

// sameTree compares WriteTree with `git write-tree`, first with the existing cache-tree
// and then with the full cache-tree that git writes.
func sameTree(t *testing.T, r *gittest.Repo) {
	t.Helper()
	sameTreeNow(t, r)
	r.Git("write-tree", "--missing-ok")
	sameTreeNow(t, r)
}

// sameTreeNow compares both with the existing cache-tree and without it. It does not
// change the index.
func sameTreeNow(t *testing.T, r *gittest.Repo) {
	t.Helper()
	have := objectsOf(r)
	index := r.GitPath("index")
	copied := r.In(r.Dir)
	copied.Setenv("GIT_INDEX_FILE", file(t, []byte(r.Read(".git/index"))))
	want := copied.Git("write-tree", "--missing-ok")
	for way := range ways {
		x := openWay(t, index, way)
		got, err := x.WriteTree(have, sink{})
		require.NoError(t, err)
		assert.Equal(t, want, got.String(), way)
		x.cache = cacheTree{}
		got, err = x.WriteTree(have, sink{})
		require.NoError(t, err)
		assert.Equal(t, want, got.String(), "%s, no cache-tree", way)
	}
}

// info stages NUL-separated lines with `git update-index --index-info`.
func info(r *gittest.Repo, lines ...string) {
	r.Pipe([]byte(strings.Join(lines, "\x00")+"\x00"), "update-index", "-z", "--index-info")
}

// line returns a line for info.
func line(mode, hash, path string) string { return mode + " " + hash + "\t" + path }

// unmerged returns a line for a stage.
func unmerged(stage, hash, path string) string {
	return "100644 " + hash + " " + stage + "\t" + path
}
