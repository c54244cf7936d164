package index

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOpenOfMissingFileIsEmptyIndex(t *testing.T) {
	t.Parallel()
	x, err := Open(filepath.Join(t.TempDir(), "index"))
	require.NoError(t, err)
	hash, err := x.WriteTree(set{}, sink{})
	require.NoError(t, err)
	want := gittest.ByFormat("4b825dc642cb6eb9a060e54bf8d69288fbee4904", "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321")
	assert.Equal(t, want, hash.String())
	assert.Zero(t, x.Len())
	assert.Empty(t, x.Lookup("a"))
	assert.NoError(t, x.Close())
}

func TestOpenRejectsDamagedIndex(t *testing.T) {
	t.Parallel()
	good := encode(2, paths("a", "b/c"))
	cut := func(n int) []byte { return good[:len(good)-n] }
	patch := func(at int, b ...byte) []byte {
		data := []byte(string(good))
		copy(data[at:], b)
		return data
	}
	stripped := encode(4, paths("aa", "b"))
	flags := headerSize + statSize + objectformat.Size
	stripped[flags+flagsSize] = 1
	whole := encode(2, paths("abcdefgh"))
	two := paths("a", "b")
	two[1].more = 0x8000
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "shorter than a header"},
		{"no magic", patch(0, 'd'), "no index begins"},
		{"cut in the last entry", whole[:len(whole)-1], "beyond"},
		{"cut in an entry", cut(60), "2 entries do not fit"},
		{"too many entries", patch(8, 0xff, 0xff, 0xff, 0xff), "do not fit"},
		{"one entry more", patch(11, 3), "do not fit"},
		{"one entry less", patch(11, 1), "extension"},
		{"name goes beyond the file", patch(flags, 0x0f, 0xfe), "beyond"},
		{"long name without an end", patch(flags, 0x0f, 0xff), "beyond"},
		{"unknown flags", encode(3, two), "flags that are not known"},
		{"extension goes beyond the file", encode(2, paths("a"), []byte("REUC\x00\x00\x01\x00..")), `extension "REUC" ends beyond`},
		{"extension without a size", encode(2, paths("a"), []byte("REUC\x00")), "extension ends beyond"},
		{"extension without a name", encode(2, paths("a"), extension("\x01REU", "")), `extension "\x01REU"`},
		{"version 4 drops too much", stripped, "does not fit the one before"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := openBytes(t, tt.data)
			require.ErrorContains(t, err, "read index: ")
			require.ErrorContains(t, err, tt.want)
			assert.NotErrorIs(t, err, ErrUnsupported)
		})
	}
}

func TestOpenReturnsErrUnsupported(t *testing.T) {
	t.Parallel()
	future := encode(2, paths("a"))
	future[7] = 5
	for name, data := range map[string][]byte{
		"split":        encode(2, paths("a"), extension("link", strings.Repeat("x", 20))),
		"sparse":       encode(2, paths("a"), extension("sdir", "")),
		"from future":  encode(2, paths("a"), extension("TREE", ""), extension("zzzz", "")),
		"next version": future,
		"other format": otherIndex(),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := openBytes(t, data)
			assert.ErrorIs(t, err, ErrUnsupported)
		})
	}
}

// otherIndex returns an index with one entry, in the other object format.
func otherIndex() []byte {
	data := append([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"), make([]byte, statSize)...)
	data = append(data, strings.Repeat("\xab", objectformat.OtherSize)...)
	data = append(data, "\x00\x01a"...)
	data = append(data, make([]byte, 8-(len(data)-headerSize)%8)...)
	return append(data, make([]byte, objectformat.OtherSize)...)
}

func TestOpenRejectsIrregularFile(t *testing.T) {
	t.Parallel()
	_, err := Open(t.TempDir())
	require.Error(t, err)
	_, err = Open("")
	require.Error(t, err)
}

// Git never writes these indexes. For some of them, git writes a tree that it later
// rejects.
func TestWriteTreeRejectsInvalidEntries(t *testing.T) {
	t.Parallel()
	mode := func(m uint32) []raw { return []raw{{path: "a", mode: m, hash: blobOf("a")}} }
	tests := []struct {
		name    string
		entries []raw
		want    string
	}{
		{"duplicate", paths("a", "a"), "not in order"},
		{"unsorted", paths("b", "a"), "not in order"},
		{"unsorted below", paths("d/b", "d/a"), "not in order"},
		{"directory in two places", paths("a/b", "b", "a/c"), "not in order"},
		{"prefix behind", paths("a/bc", "a/b"), "not in order"},
		{"file and directory", paths("a", "a/b"), `"a" is a file and a directory`},
		{"the same, apart", paths("a", "a-", "a-b", "a.c/d", "a/b"), `"a" is a file and a directory`},
		{"the same, below", paths("d/a", "d/a+", "d/a/b/c"), `"d/a" is a file and a directory`},
		{"no name", paths(""), "not in order"},
		{"slash in front", paths("/a"), `"" is not a valid file name`},
		{"two slashes", paths("a//b"), `"" is not a valid file name`},
		{"slash at the end", paths("a/"), `"" is not a valid file name`},
		{"dot", paths("a/./b"), `"." is not a valid file name`},
		{"upwards", paths("../a"), `".." is not a valid file name`},
		{"git directory", paths("sub/.GIT/config"), `".GIT" is not a valid file name`},
		{"NUL", paths("a\x00b"), "NUL"},
		{"mode of a directory", mode(0o40000), "mode 40000"},
		{"mode of nothing", mode(0o100664), "mode 100664"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x, err := openBytes(t, encode(2, tt.entries))
			require.NoError(t, err)
			_, err = x.WriteTree(all{}, sink{})
			require.ErrorContains(t, err, "write tree: ")
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

// Open checks entries that are excluded from the tree.
func TestOpenRejectsUnsortedSpecialEntries(t *testing.T) {
	t.Parallel()
	entry := func(path string, stage int) raw { return raw{path: path, stage: stage, hash: blobOf("x")} }
	for name, entries := range map[string][]raw{
		"stages backwards":     {entry("a", 2), entry("a", 1)},
		"a stage twice":        {entry("a", 1), entry("a", 1)},
		"merged and unmerged":  {entry("a", 0), entry("a", 2)},
		"unsorted before":      {entry("b", 0), entry("a", 1)},
		"unsorted after":       {entry("0", 0), entry("b", 3), entry("a", 0)},
		"unsorted, one behind": {entry("a", 1), entry("b", 0), entry("a", 2)},
		"intent to add twice":  {{path: "a", more: moreIntentToAdd}, {path: "a", more: moreIntentToAdd}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := openBytes(t, encode(3, entries))
			assert.ErrorContains(t, err, "not in order")
		})
	}
}

func TestWriteTreeReportsMissingContent(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	stage(r, "a", "d/e/f", "d/g")
	r.Git("write-tree")
	gone := strings.Repeat("ab", objectformat.Size)
	info(r, line("100644", gone, "d/h"))
	have := objectsOf(r)
	x := openWay(t, r.GitPath("index"), "mapped")

	_, err := x.WriteTree(have, sink{})
	var missing *MissingError
	require.ErrorAs(t, err, &missing)
	assert.Equal(t, MissingError{"d/h", plumbing.NewHash(gone)}, *missing)
	_, err = r.Run(nil, "write-tree")
	assert.ErrorContains(t, err, "d/h", "git refuses as well")

	have[plumbing.NewHash(gone)] = true
	_, err = x.WriteTree(have, sink{})
	assert.NoError(t, err)
}

func TestMissingContentOfPartialClone(t *testing.T) {
	t.Parallel()
	skipped := raw{path: "b", hash: blobOf("b"), more: moreSkipWorktree}
	x, err := openBytes(t, encode(3, append(paths("a"), skipped)))
	require.NoError(t, err)
	have := set{blobOf("a"): true}
	_, err = x.WriteTree(have, sink{})
	require.ErrorAs(t, err, new(*MissingError))
	x.Partial = true
	_, err = x.WriteTree(have, sink{})
	require.NoError(t, err)
	_, err = x.WriteTree(set{}, sink{})
	assert.ErrorAs(t, err, new(*MissingError), "a is in the worktree")
}

func TestNullHash(t *testing.T) {
	t.Parallel()
	x, err := openBytes(t, encode(2, []raw{{path: "s", mode: 0o160000}}))
	require.NoError(t, err)
	_, err = x.WriteTree(all{}, sink{})
	assert.ErrorAs(t, err, new(*MissingError))
}

// A missing cached tree is built again.
func TestMissingCachedTreeIsRebuilt(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	stage(r, "a", "d/e/f", "d/g", "h/i")
	want := r.Git("write-tree")
	for _, name := range []string{":", ":d", ":d/e", ":h"} {
		rev := want + name
		hash := r.Git("rev-parse", rev)
		require.NoError(t, os.Remove(r.Path(".git/objects/"+hash[:2]+"/"+hash[2:])))
		// Remove the root tree too, because WriteTree checks subtrees only if the root is
		// missing.
		have := objectsOf(r)
		for _, n := range []string{want, hash} {
			delete(have, plumbing.NewHash(n))
		}
		made := sink{}
		x := openWay(t, r.GitPath("index"), "read")
		got, err := x.WriteTree(have, made)
		require.NoError(t, err)
		assert.Equal(t, want, got.String())
		if name != ":d/e" {
			assert.Contains(t, made, plumbing.NewHash(hash))
		}
		r.Git("read-tree", "--empty")
		stage(r, "a", "d/e/f", "d/g", "h/i")
		r.Git("write-tree")
	}
}

// errUnexpected is a panic that is not a memory fault.
var errUnexpected = errors.New("unexpected")

func TestGuardPassesOtherPanics(t *testing.T) {
	t.Parallel()
	x := openWay(t, file(t, encode(2, paths("a"))), "mapped")
	assert.PanicsWithError(t, "unexpected", func() {
		x.guard(func() error { panic(errUnexpected) })
	})
}
