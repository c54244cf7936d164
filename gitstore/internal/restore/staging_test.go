package restore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newWorktree returns a worktree of a new repository, with settings such as "core.sharedRepository=group".
func newWorktree(t *testing.T, notify func(string), settings ...string) *worktree {
	of := gittest.New(t)
	for _, s := range settings {
		key, value, _ := strings.Cut(s, "=")
		of.Git("config", key, value)
	}
	r, err := repo.Open(t.Context(), repo.Options{Dir: of.Dir, Notify: notify})
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(r.StateDir(), 0o777))
	return (&Restorer{repo: r}).worktree()
}

// TestStagingIgnoresFilesOfKilledGit checks that files created late by a killed restore's git process
// neither appear in the next restore nor block it.
func TestStagingIgnoresFilesOfKilledGit(t *testing.T) {
	t.Parallel()
	s := newWorktree(t, nil)
	killed, err := s.openStaging()
	require.NoError(t, err)
	next, err := s.openStaging()
	require.NoError(t, err)
	assert.NoDirExists(t, killed.dir)
	late := killed.ready("dir/a")
	require.NoError(t, os.MkdirAll(filepath.Dir(late), 0o777))
	require.NoError(t, os.WriteFile(late, []byte("late"), 0o666))
	assert.NoFileExists(t, next.ready("dir/a"))
	require.NoError(t, next.close())
	assert.NoDirExists(t, next.dir)
	last, err := s.openStaging()
	require.NoError(t, err)
	assert.NoFileExists(t, late)
	require.NoError(t, last.close())
	assert.NoDirExists(t, s.stagingDir())
}

// TestSweepDoesNotWaitForGit checks that Sweep does not wait for a surviving git process.
func TestSweepDoesNotWaitForGit(t *testing.T) {
	t.Parallel()
	s := newWorktree(t, nil)
	killed, err := s.openStaging()
	require.NoError(t, err)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			late := killed.ready(fmt.Sprintf("dir/%d", i))
			_ = os.MkdirAll(filepath.Dir(late), 0o777)
			_ = os.WriteFile(late, nil, 0o666)
		}
	}()
	for range 100 {
		assert.NoError(t, s.sweep())
	}
	close(stop)
	<-stopped
	require.NoError(t, s.sweep())
	assert.NoDirExists(t, s.stagingDir())
}

// A file system that refuses chmod keeps no permissions, and that is a warning.
func TestARefusedChmodIsAWarning(t *testing.T) {
	t.Parallel()
	var said []string
	s := newWorktree(t, func(line string) { said = append(said, line) })
	require.NoError(t, s.metadata("a", nil))
	require.NoError(t, s.metadata("a", &os.PathError{Op: "chmod", Path: "a", Err: syscall.EPERM}))
	require.NoError(t, s.metadata("b", &os.PathError{Op: "chmod", Path: "b", Err: syscall.ENOTSUP}))
	require.ErrorIs(t, s.metadata("c", syscall.EIO), syscall.EIO)
	assert.Len(t, said, 2)
	assert.Contains(t, said[0], "the permissions of a are not as before")
}

// Another user of a shared repository can abort a killed restore: the folders of prepared
// files and the lock have shared modes.
func TestFilesOfARunningRestoreAreShared(t *testing.T) {
	t.Parallel()
	s := newWorktree(t, nil, "core.sharedRepository=group")
	w, err := s.openStaging()
	require.NoError(t, err)
	a := s.lockedIndexFiles()
	require.NoError(t, a.takeLock())
	n := 0
	require.NoError(t, filepath.WalkDir(s.repo.StateDir(), func(path string, d os.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		if n++; path != s.repo.StateDir() {
			assert.Equal(t, os.FileMode(0o060), info.Mode()&0o060, path)
		}
		return err
	}))
	assert.Equal(t, 5, n) // the folder of the state, and four folders
	info, err := os.Stat(a.lock)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o060), info.Mode()&0o060, "another user recognizes the lock")
	a.freeLock()
	require.NoError(t, w.close())
}
