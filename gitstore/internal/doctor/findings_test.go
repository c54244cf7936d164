package doctor

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFolders checks that exactly the leftover files of every directory are found.
func TestFolders(t *testing.T) {
	t.Parallel()
	common := t.TempDir()
	f := Folders{
		Common: common, Objects: filepath.Join(common, "objects"), Cache: filepath.Join(common, "ours", "cache"),
		Refs: []string{"refs/chains/"}, State: "ours",
	}
	left := map[string]FileKind{
		"packed-refs.lock": RefLock, "refs/chains/a/b.lock": RefLock, "index.lock": IndexLock,
		"objects/12/tmp_obj_x": Object, "objects/pack/tmp_pack_x": Object, "objects/pack/tmp_mtimes_x": Object, "ours/cache/new-x": Temporary,
		"ours/.tmp-1": Temporary, "index-12-34": Temporary, "index-12-34.lock": Temporary,
		"worktrees/w/index.lock": IndexLock, "worktrees/w/ours/.tmp-1": Temporary, "worktrees/w/index-1-2": Temporary,
	}
	for name := range left {
		put(t, filepath.Join(common, name))
	}
	for _, name := range []string{
		"refs/chains/a/b", "refs/heads/x.lock", "config.lock", "index", "index-x-1", "index-12-ab", "index-1-",
		"objects/12/34", "ours/restore", "ours/deep/.tmp-1", "worktrees/w/deep/index.lock",
	} {
		put(t, filepath.Join(common, name))
	}
	found, err := f.Files()
	require.NoError(t, err)
	got := map[string]FileKind{}
	for _, file := range found {
		got[file.Path] = file.Kind
	}
	assert.Equal(t, left, got)
	assert.Equal(t, []string{"."}, f.Pending())
	put(t, filepath.Join(common, "worktrees", "w", "ours", "restore"))
	assert.Equal(t, []string{".", "worktrees/w"}, f.Pending())
}

func put(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, nil, 0o666))
}

// TestRemove checks that recently modified files remain.
func TestRemove(t *testing.T) {
	t.Parallel()
	f := Folders{Common: t.TempDir()}
	elsewhere := filepath.Join(t.TempDir(), "index.lock")
	for _, path := range []string{filepath.Join(f.Common, "a.lock"), elsewhere} {
		put(t, path)
		name := f.Name(path)
		assert.Equal(t, path == elsewhere, filepath.IsAbs(name))
		assert.ErrorContains(t, f.Remove([]string{name}, time.Now().Add(-time.Hour)), "another process uses it")
		assert.FileExists(t, path)
		require.NoError(t, f.Remove([]string{name}, time.Now().Add(time.Hour)))
		assert.NoFileExists(t, path)
		require.NoError(t, f.Remove([]string{name}, time.Now()), "gone is gone")
	}
}

func TestParseObjects(t *testing.T) {
	t.Parallel()
	text := "count: 12\nsize: 48\nin-pack: 9\npacks: 3\nsize-pack: 4\nprune-packable: 0\ngarbage: 1\nalternate: /a: 5\n"
	assert.Equal(t, ObjectCounts{Loose: 12, Packs: 3, Garbage: 1}, ParseObjects(text))
	assert.Zero(t, ParseObjects(""))
}
