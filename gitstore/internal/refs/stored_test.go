package refs

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// noCase is a case-insensitive file system. It also treats both Unicode forms of a letter as
// equal.
type noCase struct{ fstest.MapFS }

// whole and parts are one Japanese letter, which has no case.
const whole, parts = "\u304c", "\u304b\u3099"

func (n noCase) Open(name string) (fs.File, error) {
	for stored := range n.MapFS {
		if strings.EqualFold(stored, strings.ReplaceAll(name, parts, whole)) {
			name = stored
		}
	}
	return n.MapFS.Open(name)
}

func (n noCase) ReadFile(name string) ([]byte, error) {
	return fs.ReadFile(struct{ fs.FS }{n}, name)
}

func (n noCase) Stat(name string) (fs.FileInfo, error) { return fs.Stat(struct{ fs.FS }{n}, name) }

// On a case-insensitive file system, a ref is readable only by its stored name.
func TestRefIsReadOnlyByItsStoredName(t *testing.T) {
	files := fstest.MapFS{"refs/checkpoints/Proj-1": {Data: []byte("1")}, "refs/checkpoints/42": {Data: []byte("2")}, "refs/checkpoints/é": {Data: []byte("3")}, "refs/checkpoints/" + whole: {Data: []byte("4")}}
	for _, name := range []string{"refs/checkpoints/Proj-1", "refs/checkpoints/42", "refs/checkpoints/é", "refs/checkpoints/" + whole} {
		for _, dir := range []fs.FS{files, noCase{files}} {
			data, err := readStored(dir, name)
			require.NoError(t, err, name)
			assert.NotEmpty(t, data)
			assert.False(t, isTaken(dir, name))
		}
	}
	for _, name := range []string{"refs/checkpoints/PROJ-1", "refs/checkpoints/proj-1", "refs/checkpoints/pROJ-1", "refs/checkpoints/É", "refs/checkpoints/" + parts} {
		_, err := fs.ReadFile(noCase{files}, name)
		require.NoError(t, err, "the file system has no case")
		for _, dir := range []fs.FS{files, noCase{files}} {
			_, err := readStored(dir, name)
			require.ErrorIs(t, err, fs.ErrNotExist, name)
		}
		assert.True(t, isTaken(noCase{files}, name))
		assert.False(t, isTaken(files, name))
	}
}
