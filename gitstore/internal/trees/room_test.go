package trees

import (
	"fmt"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/git/objectformat"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A memory is a Reader of trees in memory.
type memory map[plumbing.Hash][]byte

func (m memory) Read(hash plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	data, ok := m[hash]
	if !ok {
		return 0, nil, plumbing.ErrObjectNotFound
	}
	return plumbing.TreeObject, data, nil
}

func (m memory) add(entries ...Entry) plumbing.Hash {
	data := Encode(entries)
	hash := plumbing.ComputeHash(plumbing.TreeObject, data)
	m[hash] = data
	return hash
}

var someBlob = plumbing.NewHash(strings.Repeat("12", objectformat.Size))

// many returns n entries for one object, with names of a given length.
func many(n, length int, mode uint32, hash plumbing.Hash) []Entry {
	entries := make([]Entry, n)
	for i := range entries {
		entries[i] = Entry{mode, fmt.Sprintf("%s%06d", strings.Repeat("n", length), i), hash}
	}
	return entries
}

// Diff returns an error if a few nested trees expand to an extremely long list.
func TestDiffOfExpandingTreesFails(t *testing.T) {
	t.Parallel()
	m := memory{}
	wide := m.add(many(16, 500, ModeFile, someBlob)...)
	hollow := Empty
	deep := m.add(Entry{ModeFile, "f", someBlob})
	for range 12 {
		wide = m.add(many(16, 500, ModeTree, wide)...)
		hollow = m.add(many(16, 500, ModeTree, hollow)...)
	}
	for range 20_000 {
		deep = m.add(Entry{ModeTree, "d", deep})
	}
	long := m.add(Entry{ModeTree, strings.Repeat("n", 1<<20), m.add(many(2000, 1, ModeFile, someBlob)...)})
	for name, tree := range map[string]plumbing.Hash{"wide": wide, "without files": hollow, "deep": deep, "a long name": long} {
		for _, zero := range []plumbing.Hash{plumbing.ZeroHash, Empty} {
			err := (&difference{reader: m, room: maxList >> 3}).walk("", zero, tree)
			var corrupt *CorruptError
			require.ErrorAs(t, err, &corrupt, name)
			assert.ErrorContains(t, err, "too many directories", name)
			err = (&difference{reader: m, room: maxList >> 3}).walk("", tree, zero)
			assert.ErrorAs(t, err, &corrupt, name)
		}
	}
}

// Diff returns lists that a worktree can contain: many files, and many copies of a
// directory.
func TestDiffListsManyFilesAndCopies(t *testing.T) {
	t.Parallel()
	m := memory{}
	var dirs []Entry
	for d := range 100 {
		files := many(3000, 1, ModeFile, someBlob)
		files[0].Name = fmt.Sprint("own-", d)
		dirs = append(dirs, Entry{ModeTree, fmt.Sprintf("a-folder-with-a-name-of-some-length-%d", d), m.add(files...)})
	}
	changes, err := Diff(m, plumbing.ZeroHash, m.add(dirs...))
	require.NoError(t, err)
	assert.Len(t, changes, 300_000)
	same := m.add(many(1000, 1, ModeFile, someBlob)...)
	changes, err = Diff(m, plumbing.ZeroHash, m.add(many(100, 1, ModeTree, same)...))
	require.NoError(t, err)
	assert.Len(t, changes, 100_000)
}

// Finder.Lookup finds paths in a large directory, and reads each directory once.
func TestFinderReadsEachDirectoryOnce(t *testing.T) {
	t.Parallel()
	m := memory{}
	const n = 50_000
	dir := append(many(n, 1, ModeFile, someBlob), Entry{ModeTree, "z", m.add(many(20, 1, ModeExec, someBlob)...)})
	top := m.add(Entry{ModeTree, "d", m.add(dir...)})
	reads := &counting{Reader: m}
	find := Finder{Reader: reads}
	for i := range n {
		mode, hash, err := find.Lookup(top, fmt.Sprintf("d/n%06d", i))
		require.NoError(t, err)
		require.Equal(t, Entry{Mode: ModeFile, Hash: someBlob}, Entry{Mode: mode, Hash: hash})
		_, hash, err = find.Lookup(top, fmt.Sprintf("d/x%06d", i))
		require.NoError(t, err)
		require.True(t, hash.IsZero())
	}
	for _, path := range []string{"d", "d/z", "d/z/n000003", "d/z/x", "d/n000001/x", "x", ""} {
		mode, hash, err := (&Finder{Reader: m}).Lookup(top, path)
		require.NoError(t, err)
		again, same, err := find.Lookup(top, path)
		require.NoError(t, err)
		assert.Equal(t, Entry{Mode: mode, Hash: hash}, Entry{Mode: again, Hash: same}, path)
	}
	assert.Equal(t, 3, reads.n)
	_, _, err := find.Lookup(someBlob, "x")
	assert.Error(t, err)
}

type counting struct {
	Reader
	n int
}

func (c *counting) Read(hash plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	c.n++
	return c.Reader.Read(hash)
}
