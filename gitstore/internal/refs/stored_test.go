package refs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// noCase is a file system that ignores case and invisible characters. It also treats both
// Unicode forms of a letter as equal.
type noCase struct {
	fs.FS
	names []string
}

// whole and parts are one Japanese letter, which has no case.
const whole, parts = "\u304c", "\u304b\u3099"

var equal = strings.NewReplacer(parts, whole, "\u200c", "", "\u00ad", "")

func (n noCase) Open(name string) (fs.File, error) {
	for _, stored := range n.names {
		if strings.EqualFold(equal.Replace(stored), equal.Replace(name)) {
			name = stored
		}
	}
	return n.FS.Open(name)
}

// storedRefs creates the files of refs.
func storedRefs(t *testing.T, names ...string) (plain fs.FS, folding noCase) {
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(name), 0o666))
	}
	return os.DirFS(dir), noCase{os.DirFS(dir), names}
}

// On a case-insensitive file system, a ref is readable only by its stored name.
func TestRefIsReadOnlyByItsStoredName(t *testing.T) {
	t.Parallel()
	const dir = "refs/checkpoints/"
	stored := []string{dir + "Proj-1", dir + "42", dir + "43\u00ad", dir + "é", dir + whole}
	plain, folding := storedRefs(t, stored...)
	for _, name := range stored {
		for _, dir := range []fs.FS{plain, folding} {
			data, err := readFile(dir, name)
			require.NoError(t, err, name)
			assert.Equal(t, name, string(data))
			assert.False(t, isTaken(dir, name))
		}
	}
	for _, name := range []string{"PROJ-1", "proj-1", "pROJ-1", "43", "É", parts} {
		_, err := fs.ReadFile(folding, dir+name)
		require.NoError(t, err, "the file system has no case")
		for _, files := range []fs.FS{plain, folding} {
			_, err := readFile(files, dir+name)
			require.ErrorIs(t, err, fs.ErrNotExist, name)
		}
		assert.True(t, isTaken(folding, dir+name), name)
		assert.False(t, isTaken(plain, dir+name), name)
	}
}

// A branch is read by any name that git accepts.
func TestBranchIsReadByItsNameInAnotherCase(t *testing.T) {
	t.Parallel()
	plain, folding := storedRefs(t, "refs/heads/main")
	data, err := readFile(folding, "refs/heads/MAIN")
	require.NoError(t, err)
	assert.Equal(t, "refs/heads/main", string(data))
	_, err = readFile(plain, "refs/heads/MAIN")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// unlisted is a file system whose directories omit a file that is renamed meanwhile.
type unlisted struct{ fs.FS }

func (u unlisted) ReadDir(string) ([]fs.DirEntry, error) { return nil, nil }

func TestRefThatADirectoryOmitsIsRead(t *testing.T) {
	t.Parallel()
	plain, _ := storedRefs(t, "refs/checkpoints/prüfung")
	_, err := readFile(unlisted{plain}, "refs/checkpoints/prüfung")
	require.NoError(t, err)
}
