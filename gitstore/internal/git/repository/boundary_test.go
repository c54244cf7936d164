package repository

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// write creates files with their directories. A name that ends with a slash is a directory.
func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		full := filepath.Join(root, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			require.NoError(t, os.MkdirAll(full, 0o777))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o777))
		require.NoError(t, os.WriteFile(full, []byte(text), 0o666))
	}
}

func TestBoundaryFindsRepositories(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	root := r.Path("")
	write(t, root, map[string]string{
		"plain/HEAD":              "a text",
		"bare/HEAD":               "ref: refs/heads/main",
		"bare/objects/":           "",
		"bare/refs/":              "",
		"fixture/HEAD":            "ref: refs/heads/main",
		"fixture/objects/":        "",
		"fixture/refs/":           "",
		"nested/.git/HEAD":        "ref: refs/heads/main",
		"empty/.git/":             "",
		"text/.git":               "no path",
		"elsewhere/.git":          "gitdir: /missing/.git/worktrees/x",
		"own/.git":                "gitdir: ../.git",
		"alternates/parts/info/x": "",
		"dir/file":                "",
	})
	require.NoError(t, os.Symlink("missing", filepath.Join(root, "dir", ".git")))
	write(t, root, map[string]string{".git/objects/info/alternates": filepath.Join(root, "alternates", "parts") + "\n"})
	info, _, err := Find(t.Context(), git.Git{Dir: root})
	require.NoError(t, err)
	b := info.Boundary()
	b.Tracks = func(path string) bool { return path == "fixture/HEAD" }
	for name, want := range map[string]Foreign{
		"a.txt":                   {},
		"plain/HEAD":              {},
		"missing/deep/file":       {},
		"bare/HEAD":               {"bare/", IsNested},
		"bare/refs/heads/main":    {"bare/", IsNested},
		"fixture/refs/heads/main": {},
		"nested/a":                {"nested/", IsNested},
		"nested/deep/a":           {"nested/", IsNested},
		"empty/a":                 {},
		"text/a":                  {},
		"elsewhere/a":             {"elsewhere/", IsNested},
		"own/a":                   {},
		"dir/file":                {"dir/", IsNested},
		"alternates/a":            {},
		"alternates/parts/ab/cd":  {"alternates/parts/", IsObjectDir},
		"reported/":               {"reported/", IsNested},
		"bare/hooks/":             {"bare/", IsNested},
	} {
		assert.Equal(t, want, b.Find(name), name)
	}
}

// The git directory is found under each name by which the file system opens it.
func TestBoundaryComparesDirectoriesByIdentity(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	root := r.Path("")
	require.NoError(t, os.Rename(r.Path(".git"), r.Path("Store")))
	require.NoError(t, os.Symlink("Store", r.Path("link")))
	info := Info{Root: root, Dir: r.Path("link"), CommonDir: r.Path("link"), ObjectDir: r.Path("link/objects"), Index: r.Path("my.index")}
	b := info.Boundary()
	assert.Equal(t, Foreign{"Store/", IsGitDir}, b.Find("Store/refs/heads/main"))
	assert.Equal(t, Foreign{"my.index", IsIndex}, b.Find("my.index"))
	assert.Equal(t, Foreign{"my.index.lock", IsIndex}, b.Find("my.index.lock"))
	assert.Equal(t, IsObjectDir, b.FindPlace(r.Path("Store/objects/new/file")).Reason)
	assert.Equal(t, IsGitDir, b.FindPlace(r.Path("Store/page.html")).Reason)
	assert.Zero(t, b.FindPlace(r.Path("page.html")))
	assert.Equal(t, IsGitDir, b.FindPlace(r.Path("link/page.html")).Reason)
	assert.Zero(t, (*Boundary)(nil).Find("Store/x"))
}

// A file .git that names no directory, or that might never end, is no error of the program.
func TestGitDirAtRejectsInvalidFile(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(path string) error{
		"a file that names nothing": func(path string) error { return os.WriteFile(path, []byte("nothing\n"), 0o666) },
		"a file that names what is not there": func(path string) error {
			return os.WriteFile(path, []byte("gitdir: gone\n"), 0o666)
		},
		"a symlink to nothing": func(path string) error { return os.Symlink("gone", path) },
		"a device":             func(path string) error { return os.Symlink(os.DevNull, path) },
	} {
		dir := t.TempDir()
		require.NoError(t, put(filepath.Join(dir, ".git")), name)
		_, ok := gitDirAt(dir)
		assert.False(t, ok, name)
	}
}
