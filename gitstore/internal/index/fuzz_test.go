package index

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/git/objectformat"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzOpen checks that arbitrary bytes cause no panic and bounded memory use. Git must
// accept the resulting trees, and all format versions must return the same result.
func FuzzOpen(f *testing.F) {
	for _, seed := range seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<20 {
			t.Skip("large")
		}
		checkBytes(t, data)
	})
}

// TestDamagedIndexIsHandled runs the checks of FuzzOpen on slightly damaged indexes. It is not
// parallel, because the checks count the allocations of the whole process.
func TestDamagedIndexIsHandled(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	accepted := 0
	for _, seed := range seeds()[1:] {
		for range 400 {
			data := bytes.Clone(seed)
			for range 1 + rnd.IntN(3) {
				data[rnd.IntN(len(data))] ^= 1 << rnd.IntN(8)
			}
			if rnd.IntN(4) == 0 {
				data = data[:rnd.IntN(len(data))]
			}
			if checkBytes(t, data) {
				accepted++
			}
		}
	}
	assert.Positive(t, accepted)
}

// checkBytes reports whether data is an index with a tree.
func checkBytes(t *testing.T, data []byte) bool {
	before := allocated()
	x := new(Index)
	if x.parse(data) != nil {
		assertBounded(t, before, data)
		return false
	}
	var entries []raw
	for e := range x.All() {
		entries = append(entries, rawOf(e))
		require.LessOrEqual(t, len(x.Lookup(e.Path)), x.Len())
		if len(entries) == 50 {
			break
		}
	}
	if x.Err() != nil { // only All and WriteTree check paths
		require.ErrorAs(t, x.Err(), new(*FormatError))
		return false
	}
	x.Special()
	made := sink{}
	_, err := x.WriteTree(set{}, made)
	require.Error(t, orEmpty(err, x))
	_, err = x.WriteTree(all{}, made)
	assertBounded(t, before, data)
	if err != nil {
		return false
	}
	for _, tree := range made {
		checkTree(t, tree)
	}
	x.cache = cacheTree{}
	if root, err := x.WriteTree(all{}, made); err == nil && x.Len() < 50 {
		sameInEveryVersion(t, entries, root)
	}
	return true
}

// orEmpty returns an error for an index without files, which needs no content.
func orEmpty(err error, x *Index) error {
	for e := range x.All() {
		if e.Stage == 0 && !e.IntentToAdd && e.Mode != 0o160000 {
			return err
		}
	}
	return assert.AnError
}

func seeds() [][]byte {
	entries := append(paths("a", "a.b/c", "d/e/f", "d/e/g", "d/h"), raw{path: "s", mode: 0o160000, hash: lie})
	special := []raw{
		{path: "a", stage: 1, hash: lie},
		{path: "a", stage: 3, hash: lie},
		{path: "b", more: moreIntentToAdd, hash: lie},
		{path: "c", more: moreSkipWorktree, mode: 0o120000, hash: lie},
	}
	tree := extension("TREE", treeNode("", -1, 1, lie)+treeNode("d", 3, 1, lie)+treeNode("e", 2, 0, lie))
	long := paths(string(bytes.Repeat([]byte("n"), 5000)))
	return [][]byte{
		{},
		encode(2, nil),
		encode(2, entries),
		encode(2, entries, tree, extension("REUC", "x"), extension("EOIE", "y")),
		encode(4, entries, tree),
		encode(3, special),
		encode(4, special),
		encode(2, long),
		encode(2, entries, extension("link", "z")),
		otherIndex(),
	}
}

func rawOf(e Entry) raw {
	r := raw{path: e.Path, mode: uint32(e.Mode), hash: e.Hash, stage: e.Stage}
	if e.IntentToAdd {
		r.more |= moreIntentToAdd
	}
	if e.SkipWorktree {
		r.more |= moreSkipWorktree
	}
	return r
}

func sameInEveryVersion(t *testing.T, entries []raw, want plumbing.Hash) {
	for _, version := range []int{2, 3, 4} {
		x := new(Index)
		require.NoError(t, x.parse(encode(version, entries)))
		got, err := x.WriteTree(all{}, sink{})
		require.NoError(t, err)
		assert.Equal(t, want, got, version)
	}
}

// checkTree checks that tree entries are complete and strictly sorted.
func checkTree(t *testing.T, tree []byte) {
	before := ""
	names := map[string]bool{}
	for len(tree) > 0 {
		mode, rest, ok := bytes.Cut(tree, []byte{' '})
		require.True(t, ok)
		name, rest, ok := bytes.Cut(rest, []byte{0})
		require.True(t, ok)
		require.GreaterOrEqual(t, len(rest), objectformat.Size)
		require.NotEmpty(t, name)
		require.NotContains(t, string(name), "/")
		require.False(t, names[string(name)], "%q twice", name)
		names[string(name)] = true
		key := string(name)
		if string(mode) == "40000" {
			key += "/"
		}
		require.Less(t, before, key)
		before, tree = key, rest[objectformat.Size:]
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// assertBounded allows 200 bytes of memory per byte of the file and 4 MiB for the test
// itself.
func assertBounded(t *testing.T, before uint64, data []byte) {
	assert.Less(t, allocated()-before, uint64(4<<20+200*len(data)))
}

// A small file with large values in each size field is rejected or uses little memory. The test
// is not parallel, because it counts the allocations of the whole process.
func TestHostileSizes(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
	long := string(bytes.Repeat([]byte("n"), longPath-10))
	var repeat, unmerged, longer []raw
	for i := range 10_000 {
		e := raw{path: long + string([]byte{byte(0x80 + i/100), byte(0x80 + i%100)}), hash: lie}
		repeat = append(repeat, e)
		longer = append(longer, raw{path: "m" + e.path + "0123456789", hash: lie})
		e.stage = 2
		unmerged = append(unmerged, e)
	}
	nodes := bytes.Repeat([]byte("\x00-1 1\n"), 100_000)
	deep := paths(string(bytes.Repeat([]byte("d/"), 500_000)) + "f")
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"version 4 repeats a long path", encode(4, repeat), "too long"},
		{"unmerged ones", encode(4, unmerged), "too long"},
		{"version 4 repeats a longer path", encode(4, longer), "too long"},
		{"a path of no end", encode(4, paths(strings.Repeat(long, 100))), ""},
		{"directories without end", encode(2, deep), "more than 4096 directories"},
		{"cache-tree with many levels", encode(2, nil, extension("TREE", string(nodes))), ""},
		{"cache-tree with many children", encode(2, nil, extension("TREE", "\x00-1 999999999\n")), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := allocated()
			x := new(Index)
			err := x.parse(tt.data)
			kept := 0
			for _, m := range x.marks {
				kept += len(m.path)
			}
			assert.LessOrEqual(t, kept, len(tt.data)/4)
			if err == nil {
				_, err = x.WriteTree(all{}, sink{})
			}
			assertBounded(t, before, tt.data)
			if tt.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tt.want)
		})
	}
}
