package restore

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLockThatCouldNotBeRemoved checks that the next restore takes over a lock whose
// removal failed.
func TestLockThatCouldNotBeRemoved(t *testing.T) {
	dir := t.TempDir()
	s := &Worktree{Index: filepath.Join(dir, "index"), State: t.TempDir()}
	a := s.lockedIndexFiles()
	require.NoError(t, a.takeLock())
	a.lock = filepath.Join(dir, "full") // removal fails for a directory with a file
	require.NoError(t, os.Mkdir(a.lock, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(a.lock, "file"), nil, 0o666))
	a.freeLock()
	assert.FileExists(t, s.Index+".lock")
	b := s.lockedIndexFiles()
	require.NoError(t, b.takeLock())
	b.freeLock()
	assert.NoFileExists(t, s.Index+".lock")
}
