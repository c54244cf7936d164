package restore

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStagingIgnoresFilesOfKilledGit checks that files created late by a killed restore's git process
// neither appear in the next restore nor block it.
func TestStagingIgnoresFilesOfKilledGit(t *testing.T) {
	t.Parallel()
	s := &Worktree{State: t.TempDir()}
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
	s := &Worktree{State: t.TempDir(), GitDir: t.TempDir()}
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
		assert.NoError(t, s.Sweep())
	}
	close(stop)
	<-stopped
	require.NoError(t, s.Sweep())
	assert.NoDirExists(t, s.stagingDir())
}
