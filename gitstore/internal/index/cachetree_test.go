package index

import (
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/git/objectformat"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lie is the hash of a wrong cached tree.
var lie = plumbing.NewHash(strings.Repeat("11", objectformat.Size))

// A cache-tree that does not match the entries is ignored, and WriteTree returns the tree
// of the entries. A matching cache-tree with a wrong hash is used, which shows that the
// test can fail.
func TestWrongCacheTreeIsIgnored(t *testing.T) {
	t.Parallel()
	entries := paths("a", "d/e/1", "d/e/2", "d/f", "g")
	honest := without(t, entries)
	tests := []struct {
		name  string
		nodes []string
		used  bool
	}{
		{"fits", []string{treeNode("", -1, 1, lie), treeNode("d", 3, 0, lie)}, true},
		{"fits, deeper", []string{treeNode("", -1, 1, lie), treeNode("d", -1, 1, lie), treeNode("e", 2, 0, lie)}, true},
		{"fits, root", []string{treeNode("", 5, 0, lie)}, true},
		{"an invalid sibling in front", []string{treeNode("", -1, 2, lie), treeNode("c", -1, 0, lie), treeNode("d", 3, 0, lie)}, true},
		{"siblings in no order", []string{treeNode("", -1, 3, lie), treeNode("xx", 1, 0, lie), treeNode("d", 3, 0, lie), treeNode("c", 1, 0, lie)}, true},
		{"too few entries", []string{treeNode("", -1, 1, lie), treeNode("d", 2, 0, lie)}, false},
		{"too many entries", []string{treeNode("", -1, 1, lie), treeNode("d", 4, 0, lie)}, false},
		{"more than there are", []string{treeNode("", -1, 1, lie), treeNode("d", 5, 0, lie)}, false},
		{"no entries", []string{treeNode("", -1, 1, lie), treeNode("d", 0, 0, lie)}, false},
		{"huge", []string{treeNode("", -1, 1, lie), treeNode("d", 1<<62, 0, lie)}, false},
		{"root of fewer entries", []string{treeNode("", 4, 0, lie)}, false},
		{"invalid", []string{treeNode("", -1, 1, lie), treeNode("d", -1, 0, lie)}, false},
		{"other directory", []string{treeNode("", -1, 1, lie), treeNode("dd", 3, 0, lie)}, false},
		{"other level", []string{treeNode("", -1, 1, lie), treeNode("e", 2, 0, lie)}, false},
		{"children missing", []string{treeNode("", -1, 2, lie), treeNode("d", 3, 0, lie)}, false},
		{"children too many", []string{treeNode("", -1, 0, lie), treeNode("d", 3, 0, lie)}, false},
		{"children without end", []string{treeNode("", -1, 1<<62, lie), treeNode("d", 3, 0, lie)}, false},
		{"something behind", []string{treeNode("", -1, 1, lie), treeNode("d", 3, 0, lie), "x"}, false},
		{"hash cut short", []string{treeNode("", -1, 1, lie), treeNode("d", 3, 0, lie)[:20]}, false},
		{"no number", []string{"\x00x 0\n"}, false},
		{"no end", []string{"\x00-1"}, false},
		{"negative children", []string{"\x00-1 -1\n"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, version := range []int{2, 4} {
				x, err := openBytes(t, encode(version, entries, extension("TREE", strings.Join(tt.nodes, ""))))
				require.NoError(t, err)
				got, err := x.WriteTree(all{}, sink{})
				require.NoError(t, err)
				assert.Equal(t, tt.used, got != honest)
			}
		})
	}
}

// A node that covers entries excluded from the tree is invalid.
func TestCacheTreeWithSpecialEntriesIsIgnored(t *testing.T) {
	t.Parallel()
	for name, special := range map[string]raw{
		"unmerged":      {path: "d/b", stage: 2, hash: blobOf("x")},
		"intent to add": {path: "d/b", more: moreIntentToAdd, hash: blobOf("x")},
	} {
		t.Run(name, func(t *testing.T) {
			entries := []raw{paths("d/a")[0], special, paths("d/c")[0], paths("e")[0]}
			honest := without(t, paths("d/a", "d/c", "e"))
			for _, nodes := range []string{
				treeNode("", 4, 0, lie),
				treeNode("", -1, 1, lie) + treeNode("d", 3, 0, lie),
			} {
				x, err := openBytes(t, encode(3, entries, extension("TREE", nodes)))
				require.NoError(t, err)
				got, err := x.WriteTree(all{}, sink{})
				require.NoError(t, err)
				assert.Equal(t, honest, got)
			}
		})
	}
}

// without returns the tree of entries without a cache-tree.
func without(t *testing.T, entries []raw) plumbing.Hash {
	t.Helper()
	x, err := openBytes(t, encode(2, entries))
	require.NoError(t, err)
	hash, err := x.WriteTree(all{}, sink{})
	require.NoError(t, err)
	return hash
}
