package repository

import (
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Refs in files of another directory are not treated as the files backend.
func TestRefFormat(t *testing.T) {
	for _, tc := range []struct{ setting, environment, want string }{
		{"", "", "files"},
		{"files", "", "files"},
		{"reftable", "", "reftable"},
		{"files:///elsewhere", "", "files:///elsewhere"},
		{"", "files:///elsewhere", "files:///elsewhere"},
		{"files", "reftable:///elsewhere", "reftable:///elsewhere"},
	} {
		t.Setenv("GIT_REFERENCE_BACKEND", tc.environment)
		r := Info{RefFormat: "files"}
		config := []git.ConfigEntry{
			{Key: "core.repositoryformatversion", Value: "1", Scope: "local"},
			{Key: "extensions.objectformat", Value: objectformat.Name, Scope: "local"},
		}
		if tc.setting != "" {
			config = append(config, git.ConfigEntry{Key: "extensions.refstorage", Value: tc.setting, Scope: "local"})
		}
		require.NoError(t, r.extend(config))
		assert.Equal(t, tc.want, r.RefFormat)
	}
}

// Extensions that do not change what this program reads or writes are accepted. In a
// repository of format 0, git ignores extensions that it does not know.
func TestExtensions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ version, extension, refused string }{
		{"1", "noop", ""},
		{"1", "noop-v1", ""},
		{"1", "preciousobjects", ""},
		{"1", "relativeworktrees", ""},
		{"1", "submodulepathconfig", ""},
		{"1", "compatobjectformat", "unsupported repository: extensions.compatobjectformat"},
		{"1", "later", "unsupported repository: extensions.later"},
		{"0", "later", ""},
	} {
		config := []git.ConfigEntry{
			{Key: "core.repositoryformatversion", Value: tc.version, Scope: "local"},
			{Key: "extensions.objectformat", Value: objectformat.Name, Scope: "local"},
			{Key: "extensions." + tc.extension, Value: "true", Scope: "local"},
		}
		err := (&Info{RefFormat: "files"}).extend(config)
		if tc.refused == "" {
			assert.NoError(t, err, "%+v", tc)
		} else {
			assert.EqualError(t, err, tc.refused, "%+v", tc)
		}
	}
}

// Find returns absolute paths of a repository, wherever its parts are.
func TestFindReturnsPlaces(t *testing.T) {
	for name, place := range map[string]func(t *testing.T, r *gittest.Repo, outside string) (dir string, want Info){
		"the root": func(_ *testing.T, r *gittest.Repo, _ string) (string, Info) {
			return r.Dir, Info{Dir: r.GitPath(""), CommonDir: r.GitPath(""), Root: r.Dir}
		},
		"a directory through a symlink": func(t *testing.T, r *gittest.Repo, outside string) (string, Info) {
			require.NoError(t, os.Symlink(r.Path("sub"), filepath.Join(outside, "link")))
			return filepath.Join(outside, "link", "deep"), Info{Dir: r.GitPath(""), CommonDir: r.GitPath(""), Root: r.Dir, Prefix: "sub/deep/"}
		},
		"a linked worktree": func(_ *testing.T, r *gittest.Repo, outside string) (string, Info) {
			linked := filepath.Join(outside, "linked")
			r.Git("worktree", "add", "-q", linked, "-b", "linked")
			return linked, Info{Dir: r.GitPath("worktrees/linked"), CommonDir: r.GitPath(""), Root: linked}
		},
		"a separate git directory": func(_ *testing.T, r *gittest.Repo, outside string) (string, Info) {
			separate := filepath.Join(outside, "separate")
			r.Git("init", "-q", "--separate-git-dir", separate)
			return r.Dir, Info{Dir: separate, CommonDir: separate, Root: r.Dir}
		},
		"a worktree that was moved": func(_ *testing.T, r *gittest.Repo, outside string) (string, Info) {
			r.Git("config", "core.worktree", outside)
			return r.Dir, Info{Dir: r.GitPath(""), CommonDir: r.GitPath(""), Root: outside}
		},
		"a bare repository": func(_ *testing.T, r *gittest.Repo, outside string) (string, Info) {
			bare := filepath.Join(outside, "bare.git")
			r.Git("clone", "-q", "--bare", ".", bare)
			return bare, Info{Dir: bare, CommonDir: bare, Bare: true}
		},
		"a variable": func(t *testing.T, r *gittest.Repo, outside string) (string, Info) {
			t.Setenv("GIT_DIR", r.GitPath(""))
			t.Setenv("GIT_INDEX_FILE", filepath.Join(outside, "my.index"))
			return r.Path("sub"), Info{Dir: r.GitPath(""), CommonDir: r.GitPath(""), Root: r.Path("sub"), Index: filepath.Join(outside, "my.index")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			r.Write("sub/deep/a.txt", "a\n")
			r.Git("add", ".")
			r.Commit("first")
			dir, want := place(t, r, t.TempDir())
			if want.Index == "" {
				want.Index = filepath.Join(want.Dir, "index")
			}
			want.ObjectDir, want.RefFormat = filepath.Join(want.CommonDir, "objects"), "files"
			got, entries, err := Find(t.Context(), git.Git{Dir: dir})
			require.NoError(t, err)
			assert.NotEmpty(t, entries)
			for _, p := range []*Info{&got, &want} {
				for _, path := range []*string{&p.Dir, &p.CommonDir, &p.Index, &p.ObjectDir, &p.Root} {
					*path = reached(*path)
				}
			}
			assert.Equal(t, want, got)
		})
	}
}
