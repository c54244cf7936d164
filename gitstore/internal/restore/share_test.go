package restore

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Another user of a shared repository can abort a killed restore: the folders of prepared
// files and the held lock have shared modes.
func TestFilesOfARunningRestoreAreShared(t *testing.T) {
	t.Parallel()
	shared := map[string]bool{}
	dir := t.TempDir()
	s := &Worktree{State: dir, Share: func(paths ...string) {
		for _, path := range paths {
			shared[path] = true
		}
	}}
	w, err := s.openStaging()
	require.NoError(t, err)
	a := &lockedIndex{s: s, file: filepath.Join(dir, "of-git")}
	require.NoError(t, a.takeLock())
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		assert.True(t, shared[path] || path == dir, path)
		return err
	}))
	a.freeLock()
	require.NoError(t, w.close())
}
