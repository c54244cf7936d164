package restore

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"git-checkpoint/gitstore/internal/repo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLockThatCouldNotBeRemoved checks that the next restore takes over a lock whose
// removal failed.
func TestLockThatCouldNotBeRemoved(t *testing.T) {
	t.Parallel()
	s := newWorktree(t, nil)
	a := s.lockedIndexFiles()
	require.NoError(t, a.takeLock())
	a.lock = filepath.Join(t.TempDir(), "full") // removal fails for a directory with a file
	require.NoError(t, os.Mkdir(a.lock, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(a.lock, "file"), nil, 0o666))
	a.freeLock()
	assert.FileExists(t, s.repo.Info.Index+".lock")
	b := s.lockedIndexFiles()
	require.NoError(t, b.takeLock())
	b.freeLock()
	assert.NoFileExists(t, s.repo.Info.Index+".lock")
}

// TestIndexLockWithoutHardLinks checks that the next restore removes the lock of a killed
// restore on a file system without hard links, and no other lock.
func TestIndexLockWithoutHardLinks(t *testing.T) {
	t.Parallel()
	hardLink = func(string, string) error { return syscall.EPERM }
	t.Cleanup(func() { hardLink = os.Link })
	s := newWorktree(t, nil)
	lock := s.repo.Info.Index + ".lock"
	require.NoError(t, s.lockedIndexFiles().takeLock()) // and is killed
	assert.Equal(t, lock, s.StaleIndexLock())
	b := s.lockedIndexFiles()
	require.NoError(t, b.takeLock())
	b.freeLock()
	assert.NoFileExists(t, lock)

	require.NoError(t, s.lockedIndexFiles().takeLock())
	for _, other := range []string{"", "DIRC"} {
		require.NoError(t, os.WriteFile(lock, []byte(other), 0o666))
		assert.Empty(t, s.StaleIndexLock())
		require.ErrorAs(t, s.lockedIndexFiles().takeLock(), new(*repo.RefusedError))
		assert.FileExists(t, lock)
		require.NoError(t, os.Remove(lock))
		require.NoError(t, s.lockedIndexFiles().takeLock())
	}
}
