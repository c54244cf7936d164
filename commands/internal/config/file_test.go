package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// requireInside checks independently of checkInside that path stays below its root after
// a join.
func requireInside(t testing.TB, path string) {
	t.Helper()
	path = Expand(path, "42")
	joined := filepath.Join("/top/dir", path)
	require.True(t, joined == "/top/dir" || strings.HasPrefix(joined, "/top/dir/"), path)
	require.False(t, filepath.IsAbs(path))
	for part := range strings.SplitSeq(strings.ToLower(path), "/") {
		require.NotEqual(t, ".git", part)
	}
}

func TestLoadWithoutAFileUsesDefaults(t *testing.T) {
	for _, root := range []string{t.TempDir(), worktree(t, ".claude", "a file")} {
		s, err := Load(Sources{Root: root})
		require.NoError(t, err)
		assert.True(t, s.IsDefault("mirror"))
	}
	_, err := Load(Sources{Root: filepath.Join(t.TempDir(), "gone")})
	require.Error(t, err)
}

// The documented example of the crunch system is valid and sets only default values.
func TestLoadAcceptsTheCrunchExample(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "crunch.json"))
	require.NoError(t, err)
	s, err := Load(Sources{Root: worktree(t, ".claude/checkpoint-config.yaml", string(data))})
	require.NoError(t, err)
	set := 0
	for i, v := range s.All() {
		assert.Equal(t, Keys()[i].Default, v.Value, v.Key)
		if !s.IsDefault(v.Key) {
			set++
		}
	}
	assert.Equal(t, 14, set) // all but storage.compress, which has no effect
}
