package restore

import (
	"os"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStoredName checks that the listed name of a file is found. A hard link stands for the other name
// that opens a file on a file system that ignores case.
func TestStoredName(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("dir/Read.me", "1\n")
	r.Write("dir/other", "2\n")
	require.NoError(t, os.Link(r.Path("dir/Read.me"), r.Path("dir/read.me")))
	listed := map[string]map[string]bool{".": {"dir": true}, "dir": {"Read.me": true, "other": true}}
	o := &stateReader{s: indexOf(t, r).s, paths: map[string]string{}, listed: listed}
	for name, stored := range map[string]string{
		"dir/Read.me": "dir/Read.me", "dir/read.me": "dir/Read.me", "dir/other": "dir/other", "dir/none": "dir/none", "none/file": "none/file",
	} {
		assert.Equal(t, stored, o.stored(name))
	}
}
