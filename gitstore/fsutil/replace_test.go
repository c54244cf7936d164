package fsutil

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestReplaceFileReplacesOrCreatesTheFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	for _, text := range []string{"created", "replaced", ""} {
		var seen, synced string
		require.NoError(t, ReplaceFile(path, strings.NewReader(text), ReplaceOptions{
			Temp: ".a-",
			Mode: 0o600,
			Sync: true,
			Prepare: func(temp *os.File) error {
				data, err := os.ReadFile(temp.Name())
				assert.Equal(t, text, string(data), "content is written before Prepare")
				seen = filepath.Base(temp.Name())
				return err
			},
			SyncDir: func(dir string) error { synced = dir; return SyncDir(dir) },
		}))
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, text, string(data))
		assert.Regexp(t, `^\.a-\d+$`, seen)
		assert.Equal(t, dir, synced)
		assert.Equal(t, []string{"a"}, names(t, dir))
		if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" {
			assert.Equal(t, fs.FileMode(0o600), info.Mode())
		}
	}
}

func TestReplaceFileKeepsTheOldFileOnErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	failed := errors.New("failed")
	fail := func(*os.File) error { return failed }
	install := func(_, _ string) error { return failed }
	require.ErrorIs(t, ReplaceFile(path, strings.NewReader("new"), ReplaceOptions{Temp: ".a-", Mode: 0o600, Prepare: fail}), failed)
	require.ErrorIs(t, ReplaceFile(path, strings.NewReader("new"), ReplaceOptions{Temp: ".a-", Mode: 0o600, Install: install}), failed)
	require.ErrorIs(t, ReplaceFile(path, iotest.ErrReader(failed), ReplaceOptions{Temp: ".a-", Mode: 0o600}), failed)
	require.ErrorIs(t, ReplaceFile(filepath.Join(dir, "missing", "a"), strings.NewReader(""), ReplaceOptions{}), fs.ErrNotExist)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "old", string(data))
	assert.Equal(t, []string{"a"}, names(t, dir))
}
