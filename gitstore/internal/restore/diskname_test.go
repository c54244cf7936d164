package restore

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// noCase is a directory of a file system that ignores case and short names.
type noCase struct {
	dir   string
	names map[string]bool
	lists int
}

// shortNames maps short names of vfat to the names of the files.
var shortNames = map[string]string{"LONGNA~1.TXT": "long name.txt", "123456~1": "123456789"}

func (n *noCase) lstat(name string) (fs.FileInfo, error) {
	for stored := range n.names {
		if strings.EqualFold(stored, strings.TrimRight(name, ".")) || shortNames[strings.ToUpper(name)] == stored {
			name = stored
		}
	}
	return os.Lstat(filepath.Join(n.dir, name))
}

func (n *noCase) list() map[string]bool {
	n.lists++
	return n.names
}

// TestStoredName checks that the name on disk is found on a file system that ignores case, and
// that other file systems list no directory for it.
func TestStoredName(t *testing.T) {
	t.Parallel()
	d := &noCase{dir: t.TempDir(), names: map[string]bool{"Read.me": true, "42": true, "\u00c4": true, "long name.txt": true, "123456789": true}}
	for name := range d.names {
		require.NoError(t, os.WriteFile(filepath.Join(d.dir, name), nil, 0o666))
	}
	plain := func(name string) (fs.FileInfo, error) { return os.Lstat(filepath.Join(d.dir, name)) }
	storedBase := func(name string, lstat func(string) (fs.FileInfo, error)) string {
		info, err := lstat(name)
		require.NoError(t, err)
		return storedName(name, info, lstat, d.list)
	}
	for name := range d.names {
		assert.Equal(t, name, storedBase(name, d.lstat))
		assert.Equal(t, name, storedBase(name, plain))
	}
	for name, stored := range map[string]string{
		"read.me": "Read.me", "READ.ME": "Read.me", "42": "42", "\u00e4": "\u00c4", "LONGNA~1.TXT": "long name.txt",
		"123456~1": "123456789", "42.": "42",
	} {
		assert.Equal(t, stored, storedBase(name, d.lstat))
	}
	d.lists = 0
	for _, name := range []string{"Read.me", "42", "long name.txt"} {
		storedBase(name, plain)
	}
	assert.Zero(t, d.lists)
}

func TestOtherDir(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"a/b/c", "a/b/C", ""}, {"a/b/c", "a/B/c", "a/b"}, {"a/b/c", "A/B/c", "a"}, {"a", "A", ""}, {"a/b", "a/b", ""},
	} {
		assert.Equal(t, c[2], otherDir(c[0], c[1]), "%s %s", c[0], c[1])
	}
}
