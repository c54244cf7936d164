package restore

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A lock of the index that could not be removed is taken over by the next restore.
func TestLockThatCouldNotBeRemoved(t *testing.T) {
	dir := t.TempDir()
	s := &Worktree{Index: filepath.Join(dir, "index"), State: t.TempDir()}
	a := s.lockedIndexFiles()
	require.NoError(t, a.takeLock())
	a.lock = filepath.Join(dir, "full") // a folder with a file: its removal fails
	require.NoError(t, os.Mkdir(a.lock, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(a.lock, "file"), nil, 0o666))
	a.freeLock()
	assert.FileExists(t, s.Index+".lock")
	b := s.lockedIndexFiles()
	require.NoError(t, b.takeLock())
	b.freeLock()
	assert.NoFileExists(t, s.Index+".lock")
}
