package gitstore

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"git-checkpoint/gitstore/internal/repo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Notes that are incomplete or mixed from two writers are ignored: all recent files are
// synced.
func TestIncompleteNoteOfSyncedFilesIsIgnored(t *testing.T) {
	t.Parallel()
	text := "repository 1:2\npacks 3 4\nrefs 5\nsince 6\n"
	whole := text + repo.SumOf(text)
	assert.Equal(t, repo.Synced{Repository: "1:2", Packs: "3 4", Refs: "5", Since: time.Unix(0, 6)}, repo.ParseSynced(whole))
	for n := range len(whole) {
		assert.Equal(t, repo.Synced{}, repo.ParseSynced(whole[:n]), "%d bytes", n)
		assert.Equal(t, repo.Synced{}, repo.ParseSynced(whole[:n]+"-"+whole[n+1:]), "byte %d", n)
	}
	assert.Equal(t, repo.Synced{}, repo.ParseSynced(whole+whole))
}

// Saves overwrite the note in place, regardless of its former length, and never follow
// symlinks.
func TestNoteOfSyncedFilesIsWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.s.Notes.Path(repo.SyncedNote)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, make([]byte, 5000), 0o666))
	w.manual(1)
	assert.NotEqual(t, repo.Synced{}, w.s.repo.ReadSynced())

	outside := filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.WriteFile(outside, []byte("mine"), 0o666))
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Symlink(outside, path))
	w.Git("commit", "-q", "--allow-empty", "-m", "later")
	w.manual(1)
	data, err := os.ReadFile(outside)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(data))
}
