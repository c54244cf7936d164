//go:build unix

package index

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// many returns an index of about fifty pages.
func many() []byte {
	var names []string
	for i := range 2500 {
		names = append(names, fmt.Sprintf("d%02d/f%04d", i/100, i))
	}
	return encode(2, paths(names...))
}

func TestTruncationWhileMappedIsErrChanged(t *testing.T) {
	t.Parallel()
	for _, left := range []int64{0, 1, 4096, 100_000} {
		path := file(t, many())
		x := openWay(t, path, "mapped")
		require.NoError(t, os.Truncate(path, left))

		_, err := x.WriteTree(all{}, sink{})
		assert.ErrorIs(t, err, ErrChanged)
		for range x.All() {
		}
		assert.ErrorIs(t, x.Err(), ErrChanged)
		x.err = nil
		assert.Empty(t, x.Lookup("d24/f2499"))
		assert.ErrorIs(t, x.Err(), ErrChanged)
	}
}

// A cutter truncates the file when WriteTree checks the first object.
type cutter struct {
	path string
	left int64
}

func (c cutter) Has(plumbing.Hash) bool {
	os.Truncate(c.path, c.left)
	return true
}

func TestTruncationDuringWriteTreeIsErrChanged(t *testing.T) {
	t.Parallel()
	path := file(t, many())
	x := openWay(t, path, "mapped")
	_, err := x.WriteTree(cutter{path, 8192}, sink{})
	assert.ErrorIs(t, err, ErrChanged)
}

func TestCutDuringOpen(t *testing.T) {
	t.Parallel()
	short := encode(2, paths("a"))
	path := file(t, many())
	f, err := os.Open(path)
	require.NoError(t, err)
	x := &Index{path: path, file: f}
	defer x.Close()
	x.stat, err = f.Stat()
	require.NoError(t, err)
	require.NoError(t, x.mapFile(x.stat.Size()))
	require.NoError(t, os.WriteFile(path, short, 0o644))
	require.NoError(t, x.parseMapping())
	assert.Equal(t, 1, x.Len())
	assert.Len(t, x.Lookup("a"), 1)
}

func TestRewrittenWhileMapped(t *testing.T) {
	t.Parallel()
	data := many()
	path := file(t, data)
	x := openWay(t, path, "mapped")
	require.NoError(t, os.WriteFile(path, data, 0o644))
	require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Second)))
	_, err := x.WriteTree(all{}, sink{})
	assert.ErrorIs(t, err, ErrChanged)
}

// Git replaces the index by a new file, which does not affect an open Index.
func TestReplacedWhileMapped(t *testing.T) {
	t.Parallel()
	path := file(t, many())
	x := openWay(t, path, "mapped")
	want, err := x.WriteTree(all{}, sink{})
	require.NoError(t, err)
	require.NoError(t, os.Rename(file(t, encode(2, paths("a"))), path))
	got, err := x.WriteTree(all{}, sink{})
	require.NoError(t, err)
	assert.Equal(t, want, got)
}
