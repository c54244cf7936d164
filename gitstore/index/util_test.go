package index

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/gittest"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// all has every object.
type all struct{}

func (all) Has(plumbing.Hash) bool { return true }

// set has some objects.
type set map[plumbing.Hash]bool

func (s set) Has(h plumbing.Hash) bool { return s[h] }

// objectsOf is what a repository has.
func objectsOf(r *gittest.Repo) set {
	s := set{}
	for _, line := range strings.Fields(r.Git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")) {
		s[plumbing.NewHash(line)] = true
	}
	return s
}

// sink keeps the trees it gets.
type sink map[plumbing.Hash][]byte

func (s sink) Add(t plumbing.ObjectType, b []byte) plumbing.Hash {
	h := plumbing.ComputeHash(t, b)
	s[h] = b
	return h
}

// ways are those in which a file comes in.
var ways = map[string]int64{"mapped": 1, "read": 1 << 40}

func openWay(t testing.TB, path, way string) *Index {
	t.Helper()
	x, err := open(path, ways[way])
	require.NoError(t, err)
	t.Cleanup(func() { x.Close() })
	return x
}

// file puts an index into a file of its own.
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

// sameTree compares WriteTree with `git write-tree`: with the cache-tree that
// is there, and with the full one that git leaves.
func sameTree(t *testing.T, r *gittest.Repo) {
	t.Helper()
	sameTreeNow(t, r)
	r.Git("write-tree", "--missing-ok")
	sameTreeNow(t, r)
}

// sameTreeNow compares with the cache-tree that is there and without one, and
// leaves the index as it is.
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

// info stages entries in the form of `git update-index --index-info`,
// separated by NUL.
func info(r *gittest.Repo, lines ...string) {
	r.Pipe([]byte(strings.Join(lines, "\x00")+"\x00"), "update-index", "-z", "--index-info")
}

// line is such an entry.
func line(mode, hash, path string) string { return mode + " " + hash + "\t" + path }

// unmerged is one for a stage.
func unmerged(stage, hash, path string) string {
	return "100644 " + hash + " " + stage + "\t" + path
}
