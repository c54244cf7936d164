//go:build unix

package filelock

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestOpenFollowsNoSymlink(t *testing.T) {
	dir := t.TempDir()
	other, link := filepath.Join(dir, "other"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(other, []byte("text"), 0o600))
	require.NoError(t, os.Symlink(other, link))
	require.NoError(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600))

	for _, name := range []string{"link", "fifo"} {
		_, err := Open(filepath.Join(dir, name), os.O_CREATE)
		assert.Error(t, err, name)
	}
	f, err := Open(filepath.Join(dir, "lock"), os.O_CREATE)
	require.NoError(t, err)
	assert.NoError(t, f.Close())
}
