//go:build unix

package transcript

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFIFOAndFileOfAnotherUser(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	assert.Equal(t, Turn{}, Last(path))
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	path = filepath.Join(t.TempDir(), "t.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(claude), 0o600))
	assert.NotEmpty(t, Last(path).Request)
	require.NoError(t, os.Chown(path, 65534, 65534))
	assert.Equal(t, Turn{}, Last(path))
}
