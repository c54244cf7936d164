package snapshot

import (
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// memory stores objects.
type memory map[plumbing.Hash][]byte

func (m memory) Read(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	return plumbing.TreeObject, m[h], nil
}

func (m memory) Add(kind plumbing.ObjectType, data []byte) plumbing.Hash {
	h := plumbing.ComputeHash(kind, data)
	m[h] = data
	return h
}

// tree stores a tree of files, each "<path>=<content>".
func (m memory) tree(files string) plumbing.Hash {
	var list []trees.FileEntry
	for _, f := range strings.Fields(files) {
		path, text, _ := strings.Cut(f, "=")
		list = append(list, trees.FileEntry{Path: path, Mode: trees.ModeFile, Hash: plumbing.ComputeHash(plumbing.BlobObject, []byte(text))})
	}
	tree, _ := trees.Replace(m, m, plumbing.ZeroHash, list)
	return tree
}

func TestCarry(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		base, here, staged, head, index, captured string // base "-": no checkpoint
		paths                                     []string
		other                                     func(string) bool
		want, from                                string
	}{
		"as in HEAD, and a commit since": {base: "b=0", here: "b=0", head: "b=2", index: "b=2", captured: "b=2", paths: []string{"b"}, want: "b=2"},
		"a change, and no commit since":  {base: "b=0", here: "b=1", head: "b=0", index: "b=0", captured: "b=0", paths: []string{"b"}, want: "b=1", from: "b"},
		"a change, and a commit since":   {base: "b=0", here: "b=1", head: "b=2", index: "b=2", captured: "b=2", paths: []string{"b"}, want: "b=2"},
		"a change that was committed":    {base: "b=0", here: "b=1", head: "b=1", index: "b=1", captured: "b=1", paths: []string{"b"}, want: "b=1"},
		"a change that was staged then":  {base: "b=0", here: "b=1", staged: "b=3", head: "b=0", index: "b=3", captured: "b=3", paths: []string{"b"}, want: "b=1", from: "b"},
		"a change, staged since":         {base: "b=0", here: "b=1", staged: "b=0", head: "b=0", index: "b=3", captured: "b=3", paths: []string{"b"}, want: "b=3"},
		"staged, as in HEAD before":      {base: "b=0", here: "b=0", staged: "b=0", head: "b=0", index: "b=3", captured: "b=3", paths: []string{"b"}, want: "b=3"},
		"removed from the index alone":   {base: "b=0", here: "b=0", head: "b=0", paths: []string{"b"}, want: "b=0", from: "b"},
		"removed from the index since":   {base: "b=0", here: "b=0", staged: "b=0", head: "b=0", paths: []string{"b"}, want: ""},
		"staged and changed, then again": {base: "b=0", here: "b=2", staged: "b=1", head: "b=0", index: "b=1", captured: "b=1", other: func(string) bool { return true }, want: "b=2", from: "b"},
		"an untracked file":              {here: "u=1", paths: []string{"u"}, want: "u=1", from: "u"},
		"an untracked file, committed":   {here: "u=1", head: "u=2", index: "u=2", captured: "u=2", paths: []string{"u"}, want: "u=2"},
		"a deletion":                     {base: "b=0", here: "", head: "b=0", index: "b=0", captured: "b=0", paths: []string{"b"}, want: "", from: "b"},
		"a directory":                    {base: "d/a=0", here: "d/a=0 d/u=1 e=1", head: "d/a=0", index: "d/a=0", captured: "d/a=0", paths: []string{"d/"}, want: "d/a=0 d/u=1", from: "d/u"},
		"captured paths stay":            {base: "a=0 b=0", here: "a=1 b=1", head: "a=0 b=0", index: "a=0 b=0", captured: "a=2 b=0", paths: []string{"b"}, want: "a=2 b=1", from: "b"},
		"all that is not captured":       {base: "a=0 b=0", here: "a=1 b=1 u=1", head: "a=0 b=0", index: "a=0 b=0", captured: "a=2 b=0", other: func(p string) bool { return p != "a" }, want: "a=2 b=1 u=1", from: "b u"},
		"no checkpoint, tracked":         {base: "-", head: "b=0", index: "b=3", captured: "b=7", paths: []string{"b"}, want: "b=3"},
		"no checkpoint, not staged":      {base: "-", head: "b=0", captured: "b=7", paths: []string{"b"}, want: "b=0"},
		"no checkpoint, not captured":    {base: "-", head: "b=0", paths: []string{"b"}, want: "b=0"},
		"no checkpoint, untracked":       {base: "-", paths: []string{"u"}, want: ""},
		"a file in place of a directory": {here: "d=1", captured: "d/x=2", paths: []string{"d"}, want: "d/x=2"},
		"below a captured file":          {here: "d/x=1", captured: "d=2", paths: []string{"d/x"}, want: "d=2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := memory{}
			in := Carrying{Captured: m.tree(c.captured), Head: m.tree(c.head), Index: m.tree(c.index), Agreement: Agreement{Staged: m.tree(c.staged), Here: m.tree(c.here)}, Paths: c.paths, Other: c.other}
			if c.base != "-" {
				in.ID, in.Base = "CP-here", m.tree(c.base)
			}
			got, from, err := carry(m, m, in)
			require.NoError(t, err)
			if want := m.tree(c.want); want.IsZero() {
				assert.Contains(t, []plumbing.Hash{{}, trees.Empty}, got)
			} else {
				assert.Equal(t, want, got)
			}
			assert.Len(t, from, len(strings.Fields(c.from)))
			for _, path := range strings.Fields(c.from) {
				assert.Equal(t, checkpoint.ID("CP-here"), from[path], path)
			}
		})
	}
}
