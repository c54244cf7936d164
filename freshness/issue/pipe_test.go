//go:build unix

package issue

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPipeInTheWorktree checks that File does not wait for a pipe's writer.
func TestPipeInTheWorktree(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{".checkpoint/issues/1.yaml": "t"})
	require.NoError(t, syscall.Mkfifo(filepath.Join(root, ".checkpoint/issues/2.yaml"), 0o644))
	done := make(chan error, 1)
	go func() {
		_, err := File(root, "2", "")
		done <- err
	}()
	select {
	case err := <-done:
		assert.ErrorContains(t, err, "not a regular file")
	case <-time.After(patience):
		t.Fatal("File waits for the pipe's writer")
	}
}

// TestIssueFileFromAPipe covers --issue-file <(gh issue view ...).
func TestIssueFileFromAPipe(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o644))
	go func() { _ = os.WriteFile(pipe, []byte("title: from a pipe"), 0o644) }()
	got, err := FromFile(pipe)
	require.NoError(t, err)
	assert.Equal(t, "from a pipe", got.Title)
}
