package filelock

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func open(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(path, os.O_CREATE)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func TestLockExcludesAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for _, take := range []func(*File) error{(*File).Try, (*File).createMark} {
		first, second := open(t, path), open(t, path)
		require.NoError(t, take(first))
		require.ErrorIs(t, take(second), ErrHeld)
		require.NoError(t, first.Close())
		require.NoError(t, take(second))
		require.NoError(t, second.Close())
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "the mark is removed")
}

// A mark counts while its owner may run.
func TestMarkOfAnEndedProcessIsRemoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("only age counts there")
	}
	ended := exec.Command("true")
	require.NoError(t, ended.Run())
	dead, alive := ended.Process.Pid, os.Getpid()
	for _, c := range []struct {
		name, mark string
		age        time.Duration
		held       bool
	}{
		{"running", fmt.Sprintf("%d %s\n", alive, thisSystem()), 48 * time.Hour, true},
		{"ended", fmt.Sprintf("%d %s\n", dead, thisSystem()), 0, false},
		{"another host", fmt.Sprintf("%d elsewhere 1\n", dead), 0, true},
		{"another host, long ago", fmt.Sprintf("%d elsewhere 1\n", dead), 2 * time.Hour, false},
		{"an earlier start", fmt.Sprintf("%d %s0\n", alive, thisSystem()), 0, false},
		{"being written", "", 0, true},
		{"never written", "12", time.Minute, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t, filepath.Join(t.TempDir(), "lock"))
			mark := markOf(f.Name())
			require.NoError(t, os.WriteFile(mark, []byte(c.mark), 0o666))
			at := time.Now().Add(-c.age)
			require.NoError(t, os.Chtimes(mark, at, at))
			if c.held {
				assert.ErrorIs(t, f.createMark(), ErrHeld)
				return
			}
			require.NoError(t, f.createMark())
			owner, held := ownerOf(mark)
			assert.True(t, held)
			assert.Equal(t, fmt.Sprintf("%d %s\n", alive, thisSystem()), string(owner))
		})
	}
}
