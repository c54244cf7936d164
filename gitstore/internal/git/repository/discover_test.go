package repository

import (
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDiscoverMatchesGit compares Discover with git rev-parse: confirmed results are equal, and cases
// that need git are rejected.
func TestDiscoverMatchesGit(t *testing.T) {
	for _, tc := range []struct {
		name  string
		make  func(t *testing.T, r *gittest.Repo) (dir string)
		taken bool
	}{
		{"the root", func(_ *testing.T, r *gittest.Repo) string { return r.Dir }, true},
		{"a directory below", func(_ *testing.T, r *gittest.Repo) string { return r.Path("sub/deep") }, true},
		{"a linked worktree", func(t *testing.T, r *gittest.Repo) string {
			dir := filepath.Join(t.TempDir(), "linked")
			r.Git("worktree", "add", "-q", dir, "-b", "linked")
			return dir
		}, true},
		{"through a symlink", func(t *testing.T, r *gittest.Repo) string {
			link := filepath.Join(t.TempDir(), "link")
			require.NoError(t, os.Symlink(r.Path("sub"), link))
			return link
		}, true},
		{"a separate git directory", func(t *testing.T, r *gittest.Repo) string {
			r.Git("init", "-q", "--separate-git-dir", filepath.Join(t.TempDir(), "elsewhere"))
			return r.Dir
		}, true},
		{"a git directory beyond a symlink", func(t *testing.T, r *gittest.Repo) string {
			elsewhere := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(elsewhere, "deep"), 0o777))
			r.Git("init", "-q", "--separate-git-dir", filepath.Join(elsewhere, "store"))
			r.Git("init", "-q", "--bare", "store")
			require.NoError(t, os.Symlink(filepath.Join(elsewhere, "deep"), r.Path("link")))
			r.Write(".git", "gitdir: link/../store\n")
			return r.Dir
		}, true},
		{"a repository in a repository", func(_ *testing.T, r *gittest.Repo) string {
			r.Git("init", "-q", "inner")
			return r.Path("inner")
		}, true},
		{"a worktree that was moved", func(t *testing.T, r *gittest.Repo) string {
			r.Git("config", "core.worktree", t.TempDir())
			return r.Dir
		}, false},
		{"a bare repository", func(t *testing.T, r *gittest.Repo) string {
			dir := filepath.Join(t.TempDir(), "bare.git")
			r.Git("clone", "-q", "--bare", ".", dir)
			return dir
		}, false},
		{"inside .git", func(_ *testing.T, r *gittest.Repo) string { return r.GitPath("hooks") }, false},
		{"a ceiling", func(t *testing.T, r *gittest.Repo) string {
			t.Setenv("GIT_CEILING_DIRECTORIES", r.Dir)
			return r.Path("sub/deep")
		}, false},
		{"a variable", func(t *testing.T, r *gittest.Repo) string {
			t.Setenv("GIT_DIR", r.GitPath(""))
			return r.Dir
		}, false},
		{"core.bare", func(_ *testing.T, r *gittest.Repo) string {
			r.Git("config", "core.bare", "true")
			return r.Dir
		}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := gittest.New(t)
			r.Write("sub/deep/a.txt", "a\n")
			r.Git("add", ".")
			r.Commit("first")
			g := git.Git{Dir: tc.make(t, r)}
			guessed, ok := Discover(g.Dir)
			entries, err := g.Config(t.Context())
			require.NoError(t, err)
			require.Equal(t, tc.taken, ok && guessed.confirmed(entries))
			if !tc.taken {
				return
			}
			asked, err := discover(t.Context(), g)
			require.NoError(t, err)
			for _, p := range []*Info{&guessed, &asked} {
				for _, path := range []*string{&p.Dir, &p.CommonDir, &p.Index, &p.ObjectDir, &p.Root} {
					*path, err = filepath.EvalSymlinks(filepath.Dir(*path))
					require.NoError(t, err)
				}
			}
			assert.Equal(t, asked, guessed)
		})
	}
}

// TestDiscoverRejectsInvalidGitDir checks that Discover rejects an invalid .git, for which git fails
// or continues the search.
func TestDiscoverRejectsInvalidGitDir(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"a file that names nothing": func(path string) error { return os.WriteFile(path, []byte("nothing\n"), 0o666) },
		"a file that names what is not there": func(path string) error {
			return os.WriteFile(path, []byte("gitdir: gone\n"), 0o666)
		},
		"a symlink to nothing": func(path string) error { return os.Symlink("gone", path) },
		"a device":             func(path string) error { return os.Symlink(os.DevNull, path) },
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			require.NoError(t, os.Mkdir(r.Path("inner"), 0o777))
			require.NoError(t, put(r.Path("inner/.git")))
			_, ok := Discover(r.Path("inner"))
			assert.False(t, ok)
		})
	}
	for _, dir := range []string{"refs", "objects"} { // like directories that cannot be entered
		r := gittest.New(t)
		require.NoError(t, os.RemoveAll(r.Path(".git/"+dir)))
		_, ok := Discover(r.Dir)
		assert.False(t, ok, dir)
		r = gittest.New(t)
		require.NoError(t, os.Chmod(r.Path(".git/"+dir), 0o600))
		_, ok = Discover(r.Dir)
		assert.Equal(t, os.Geteuid() == 0, ok, dir)
		require.NoError(t, os.Chmod(r.Path(".git/"+dir), 0o755))
	}
	r := gittest.New(t)
	t.Setenv("GIT_WORK_TREE", "")
	_, ok := Discover(r.Dir)
	assert.False(t, ok)
}
