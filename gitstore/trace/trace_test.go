package trace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTraceAppendsLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace")
	Begin(Step, "before").End()
	for range 2 {
		end, err := Open(file)
		require.NoError(t, err)
		s := Begin(Process, "git status")
		s.EndWith("exit 1\nand more")
		end()
		s.End()
	}
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Regexp(t, `\A([0-9:]{8}\.[0-9]{6} [0-9]+ process +[0-9]+\.[0-9]{3} ms git status exit 1\?and more\n){2}\z`, string(data))
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm()&^0o200|0o200)
}

func TestTraceIsOffByDefault(t *testing.T) {
	for _, value := range []string{"", "0", "false"} {
		_, err := Open(value)
		require.NoError(t, err)
		assert.False(t, On())
	}
	_, err := Open("relative")
	require.ErrorContains(t, err, "absolute path")
	_, err = Open(filepath.Join(t.TempDir(), "missing", "trace"))
	require.Error(t, err)
	assert.False(t, On())
}

// Values of options and other arguments can have secrets and content.
func TestWordsHaveNoContent(t *testing.T) {
	assert.Equal(t, "git -c http.extraHeader push --porcelain --push-option -q (2 arguments)",
		Words("/usr/bin/git", []string{"-c", "http.extraHeader=Authorization: x", "push", "--porcelain", "--push-option=secret", "-q", "https://me:pw@host/x", "refs/a:refs/a"}))
	assert.Equal(t, "sh", Words("sh", nil))
}
