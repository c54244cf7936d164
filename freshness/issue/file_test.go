package issue

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tree writes files with a title below a new root directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, title := range files {
		name = filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(`{"title": "`+title+`"}`), 0o644))
	}
	return root
}

func TestFileRefuses(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(tree(t, map[string]string{"secret.yaml": "secret"}), "secret.yaml")
	root := tree(t, map[string]string{".checkpoint/issues/1.yaml": "t", "in.yaml": "inside"})
	issues := filepath.Join(root, ".checkpoint", "issues")
	require.NoError(t, os.Symlink(outside, filepath.Join(issues, "2.yaml")))
	require.NoError(t, os.Symlink("../../in.yaml", filepath.Join(issues, "3.yaml")))
	require.NoError(t, os.Symlink(filepath.Dir(outside), filepath.Join(root, "out")))
	require.NoError(t, os.Mkdir(filepath.Join(issues, "4.yaml"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(issues, "5.yaml"), []byte("title: [x]"), 0o644))

	for _, c := range []struct{ name, issue, pattern, want string }{
		{"link out", "2", "", "path escapes"},
		{"directory link out", "1", "out/secret.yaml", "path escapes"},
		{"a directory", "4", "", "not a regular file"},
		{"bad content", "5", "", "read issue file: .checkpoint/issues/5.yaml: line 1, column 8: title: want text"},
		{"absolute", "1", outside, "not an absolute one"},
		{"dots", "1", "../secret.yaml", "without .."},
		{"dots that stay inside", "1", "a/../in.yaml", "without .."},
		{"dots behind a backslash", "1", `a\..\in.yaml`, "without .."},
		{"other placeholder", "1", "{branch}.yaml", "got {branch}"},
		{"NUL", "1", "a\x00b", "NUL"},
		{"empty issue", "", "", "issue: empty"},
		{"control character in the issue", "a\nb", "", "control character"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := File(root, c.issue, c.pattern)
			require.ErrorContains(t, err, c.want)
			assert.NotErrorIs(t, err, ErrNoSource)
			assert.NotContains(t, err.Error(), "secret text")
		})
	}
	got, err := File(root, "3", "")
	require.NoError(t, err, "a link that stays inside")
	assert.Equal(t, "inside", got.Title)
	_, err = File(filepath.Join(root, "gone"), "1", "")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestSize(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "issue.json")
	for _, c := range []struct {
		size int
		ok   bool
	}{{MaxBytes, true}, {MaxBytes + 1, false}} {
		body := strings.Repeat("x", c.size-len(`{"body":""}`))
		require.NoError(t, os.WriteFile(name, []byte(`{"body":"`+body+`"}`), 0o644))
		_, err := FromFile(name)
		if c.ok {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "larger than 8 MiB")
	}
}
