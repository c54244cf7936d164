package gitstore

import (
	"io/fs"
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// In group-shared repositories, all members can use each other's files. A lock file that
// others cannot open would not exclude them.
func TestFilesOfASharedRepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Git("config", "core.sharedRepository", "group")
	w.s = w.open(w.s.repo.Info.Root)
	w.Write("a.txt", "staged\n")
	w.Git("add", "-A")
	saved := w.save(w.request(checkpoint.Manual))
	w.Git("reset", "-q", "--hard")
	_, err := w.s.Restore(ctx, RestoreRequest{Checkpoint: &saved.Checkpoint})
	require.NoError(t, err)
	require.NoError(t, w.s.SetResumed(&saved.Checkpoint, Resumption{}))
	w.s.Session(func() string { return "one" })
	seen := map[string]bool{}
	require.NoError(t, filepath.WalkDir(w.s.repo.StateDir(), func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		want := fs.FileMode(0o060)
		if d.IsDir() {
			want = 0o070
		}
		assert.Equal(t, want, info.Mode()&want, "%s: %v", path, info.Mode())
		seen[d.Name()] = true
		return nil
	}))
	for _, name := range []string{"lock", "42", "restore.lock", "resumed", "session"} {
		assert.True(t, seen[name], name)
	}
}
