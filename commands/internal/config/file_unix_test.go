//go:build unix

package config

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLoadRejectsSymlinksOutOfTheWorktree(t *testing.T) {
	outside := worktree(t, "checkpoint-config.yaml", "checkpoint: {mirror: crunch}\n")
	target := filepath.Join(outside, "checkpoint-config.yaml")
	tests := []struct{ name, link, to, want string }{
		{"out of the worktree", ".checkpoint.yaml", target, "leads out of the worktree"},
		{"out by dots", ".checkpoint.yaml", "../../../../../../../../etc/passwd", "leads out of the worktree"},
		{"directory out of the worktree", ".claude", outside, "leads out of the worktree"},
		{"to itself", ".checkpoint.yaml", ".checkpoint.yaml", "too many"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			require.NoError(t, os.Symlink(tt.to, filepath.Join(root, tt.link)))
			s, err := Load(Sources{Root: root})
			require.ErrorContains(t, err, tt.want)
			assert.True(t, s.IsDefault("mirror"))
		})
	}
	elsewhere := t.TempDir()
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(elsewhere, ".claude")))
	_, err := Load(Sources{Root: elsewhere})
	require.NoError(t, err, "a folder elsewhere that has no settings")

	root := worktree(t, "etc/cp.yaml", "mirror: crunch\n")
	require.NoError(t, os.Symlink("etc/cp.yaml", filepath.Join(root, ".checkpoint.yaml")))
	s, err := Load(Sources{Root: root})
	require.NoError(t, err)
	assert.Equal(t, "crunch", s.String("mirror"))
}

func TestLoadRejectsIrregularAndOversizedFiles(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, ".checkpoint.yaml")
	require.NoError(t, syscall.Mkfifo(path, 0o644))
	_, err := Load(Sources{Root: root})
	require.EqualError(t, err, "config: .checkpoint.yaml: not a regular file")

	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o755))
	_, err = Load(Sources{Root: root})
	require.EqualError(t, err, "config: .checkpoint.yaml: not a regular file")

	root = worktree(t, ".checkpoint.yaml", string(bytes.Repeat([]byte("#"), maxFile+1)))
	_, err = Load(Sources{Root: root})
	require.EqualError(t, err, "config: .checkpoint.yaml: larger than 1048576 bytes")
}
