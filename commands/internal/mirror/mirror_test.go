package mirror

import (
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/layout"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scene creates a tree with files and an empty state.
func scene(t *testing.T, files map[string]string) (*Tree, *State, string) {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		write(t, root, name, text)
	}
	tree, err := Open(root, 100)
	require.NoError(t, err)
	t.Cleanup(tree.Close)
	s, fresh, err := Load(filepath.Join(root, "none"), "claude", root)
	require.NoError(t, err)
	require.True(t, fresh)
	return tree, s, root
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
}

func none(string) bool   { return false }
func nobody([]byte) bool { return false }

// Neither symlinks nor paths outside the root are read or written.
func TestSymlinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	write(t, outside, "x.json", "theirs")
	want := layout.Output{Data: []byte("new")}
	for _, c := range []struct{ name, link, to, put string }{
		{"the file", "d/x.json", filepath.Join(outside, "x.json"), "d/x.json"},
		{"the file, inside", "d/x.json", "../y.json", "d/x.json"},
		{"nowhere", "d/x.json", "nowhere", "d/x.json"},
		{"its directory", "d", outside, "d/x.json"},
		{"its directory, inside", "d", ".git", "d/x.json"},
		{"further up", "d", outside, "d/e/f/x.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, s, root := scene(t, map[string]string{"y.json": "mine", ".git/x.json": "mine"})
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, c.link)), 0o777))
			if err := os.Symlink(c.to, filepath.Join(root, c.link)); err != nil {
				t.Skip("no links here: ", err)
			}
			require.Error(t, tree.Put(s, c.put, want, "42", "", nobody))
			files, err := tree.Changed(s, filepath.ToSlash(filepath.Dir(c.put)), none)
			if err == nil {
				require.Len(t, files, 1)
				require.Error(t, files[0].Err)
				assert.Nil(t, files[0].Data)
			}
			for name, text := range map[string]string{filepath.Join(outside, "x.json"): "theirs", filepath.Join(root, "y.json"): "mine", filepath.Join(root, ".git/x.json"): "mine"} {
				got, err := os.ReadFile(name)
				require.NoError(t, err)
				assert.Equal(t, text, string(got))
			}
		})
	}
	tree, s, _ := scene(t, nil)
	require.Error(t, tree.Put(s, "../x.json", want, "42", "", nobody))
	require.Error(t, tree.Put(s, "/x.json", want, "42", "", nobody))
}

// A symlinked view, such as crunch's latest, has the requested target.
func TestPutReplacesSymlinks(t *testing.T) {
	t.Parallel()
	tree, s, root := scene(t, map[string]string{"d/a": "a", "d/taken": "a person's"})
	put := func(name, to string) error { return tree.Put(s, name, layout.Output{Link: to}, "42", "", nobody) }
	if err := put("d/latest", "a"); err != nil {
		t.Skip("no links here: ", err)
	}
	require.NoError(t, put("d/latest", "b"))
	to, err := os.Readlink(filepath.Join(root, "d", "latest"))
	require.NoError(t, err)
	assert.Equal(t, "b", to)
	require.ErrorIs(t, put("d/taken", "a"), errChanged)
	require.NoError(t, tree.Remove(s, "d/latest"))
	_, err = os.Lstat(filepath.Join(root, "d", "latest"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Oversized files are neither read nor replaced.
func TestOversizedFilesAreNotRead(t *testing.T) {
	t.Parallel()
	tree, s, root := scene(t, nil)
	write(t, root, "d/x.json", string(make([]byte, 101)))
	files, err := tree.Changed(s, "d", none)
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.EqualError(t, files[0].Err, "101 bytes, more than the limit of 100")
	require.EqualError(t, tree.Put(s, "d/x.json", layout.Output{Data: []byte("new")}, "42", "", nobody), "101 bytes, more than the limit of 100")
}
