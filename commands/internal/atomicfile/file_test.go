package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func put(t *testing.T, path, text string, mode fs.FileMode) Replacement {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	require.NoError(t, os.Chmod(path, mode))
	f, err := Read(path)
	require.NoError(t, err)
	return f
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

// only checks that dir contains exactly these names, without temporary files.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var have []string
	for _, e := range entries {
		have = append(have, e.Name())
	}
	assert.Equal(t, names, have)
}

func TestWriteReplacesTheFileAndKeepsItsMode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := put(t, filepath.Join(dir, "a"), "old", 0o640)
	require.NoError(t, f.Write("new"))
	assert.Equal(t, "new", content(t, f.Path))
	info, err := os.Stat(f.Path)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		assert.Equal(t, fs.FileMode(0o640), info.Mode())
	}
	only(t, dir, "a")
}

func TestWriteCreatesTheFileAndItsDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := Read(filepath.Join(dir, "b", "c"))
	require.NoError(t, err)
	assert.False(t, f.Exists())
	require.NoError(t, f.Write("new"))
	assert.Equal(t, "new", content(t, f.Path))
	only(t, filepath.Join(dir, "b"), "c")
}

func TestWriteRefusesAFileThatChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	missing, err := Read(path)
	require.NoError(t, err)
	f := put(t, path, "old", 0o600)
	require.ErrorIs(t, missing.Write("new"), ErrChanged)
	require.ErrorIs(t, missing.Create("new", 0o777), ErrChanged)
	require.NoError(t, os.WriteFile(path, []byte("theirs"), 0o600))
	require.ErrorIs(t, f.Write("new"), ErrChanged)
	require.ErrorIs(t, f.Remove(), ErrChanged)
	assert.Equal(t, "theirs", content(t, path))
	only(t, dir, "a")
	require.NoError(t, os.Remove(path))
	require.ErrorIs(t, f.Write("new"), ErrChanged)
	only(t, dir)
}

func TestWriteFollowsSymlinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "real", "a"), "old", 0o600)
	link := filepath.Join(dir, "link")
	for target, text := range map[string]string{"real/a": "old", "real/missing": ""} {
		_ = os.Remove(link)
		if err := os.Symlink(target, link); err != nil {
			t.Skip("no symlinks: ", err)
		}
		f, err := Read(link)
		require.NoError(t, err)
		assert.Equal(t, text, f.Text)
		require.NoError(t, f.Write("new"))
		to, err := os.Readlink(link)
		require.NoError(t, err)
		assert.Equal(t, target, to)
		assert.Equal(t, "new", content(t, filepath.Join(dir, target)))
	}
	require.NoError(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	_, err := Read(filepath.Join(dir, "loop"))
	require.Error(t, err)
}

func TestReadRefusesDirectories(t *testing.T) {
	t.Parallel()
	_, err := Read(t.TempDir())
	require.ErrorContains(t, err, "not a plain file")
}

// Temporary files of killed processes are removed; those of running processes remain.
func TestWriteRemovesTemporaryFilesOfKilledProcesses(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("only age counts there")
	}
	dir := t.TempDir()
	f := put(t, filepath.Join(dir, "a"), "old", 0o600)
	stale := filepath.Join(dir, ".a.git-checkpoint-4194999-0") // above the maximum process id
	alive := filepath.Join(dir, ".a.git-checkpoint-"+strconv.Itoa(os.Getppid())+"-0")
	put(t, stale, "", 0o600)
	put(t, alive, "", 0o600)
	put(t, filepath.Join(dir, ".a.git-checkpoint-notes"), "", 0o600)
	require.NoError(t, f.Write("new"))
	only(t, dir, filepath.Base(alive), ".a.git-checkpoint-notes", "a")
}

func TestPlaceReplacesAFileOrSymlinkItself(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	target := put(t, filepath.Join(dir, "b"), "theirs", 0o600)
	if err := os.Symlink("b", path); err != nil {
		t.Skip("no symlinks: ", err)
	}
	require.NoError(t, PlaceFile(path, "ours", 0o777))
	assert.Equal(t, "ours", content(t, path))
	assert.Equal(t, "theirs", content(t, target.Path))
	require.NoError(t, PlaceSymlink(path, "b"))
	assert.Equal(t, "theirs", content(t, path))
	only(t, dir, "a", "b")
}

func TestKeepStoresBehindASymlink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := put(t, filepath.Join(dir, "a"), "old", 0o600)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	link := filepath.Join(dir, "link")
	if err := os.Symlink("real", link); err != nil {
		t.Skip("no symlinks: ", err)
	}
	_, err := Keep(filepath.Join(link, "kept"), f)
	require.NoError(t, err)
	assert.Equal(t, []string{"old"}, Kept(filepath.Join(dir, "real", "kept"), f.Path))
}

func TestKeepStoresEachContentOnceAndBoundsTheirNumber(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, kept := filepath.Join(dir, "a"), filepath.Join(dir, "kept")
	assert.Empty(t, Kept(kept, path))
	for i := range 2 * keptCopies {
		f := put(t, path, strconv.Itoa(i/2), 0o600)
		at, err := Keep(kept, f)
		require.NoError(t, err)
		assert.Equal(t, f.Text, content(t, at))
	}
	assert.Equal(t, []string{"4", "3", "2", "1", "0"}, Kept(kept, path))
	_, err := Keep(kept, put(t, path, "5", 0o600))
	require.NoError(t, err)
	assert.Equal(t, []string{"5", "4", "3", "2", "1"}, Kept(kept, path))
	assert.Empty(t, Kept(kept, filepath.Join(dir, "elsewhere", "a")))
}
