package gitconfig

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// world returns a repository whose environment is that of the test process.
func world(t *testing.T) (*gittest.Repo, Place, string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("git is asked on other systems")
	}
	r := gittest.New(t)
	for _, pair := range r.Env() {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	require.NoError(t, os.Unsetenv("GIT_CONFIG_GLOBAL"))
	dir, err := filepath.EvalSymlinks(r.Dir)
	require.NoError(t, err)
	git := filepath.Join(dir, ".git")
	return r, Place{Root: dir, GitDir: git, CommonDir: git}, os.Getenv("HOME")
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
}

// add appends text to the repository's configuration file.
func add(t *testing.T, p Place, text string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(p.CommonDir, "config"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// TestConfigMatchesGitConfig makes a single change to a plain repository per case. If
// Read accepts the repository, its result equals git's output. Cases that need git are
// rejected.
func TestConfigMatchesGitConfig(t *testing.T) {
	type change func(t *testing.T, r *gittest.Repo, p *Place, home string)
	text := func(text string) change {
		return func(t *testing.T, _ *gittest.Repo, p *Place, _ string) { add(t, *p, text) }
	}
	variable := func(name, value string) change {
		return func(t *testing.T, _ *gittest.Repo, _ *Place, _ string) { t.Setenv(name, value) }
	}
	for _, tc := range []struct {
		name  string
		taken bool
		change
	}{
		{"nothing", true, func(*testing.T, *gittest.Repo, *Place, string) {}},
		{"below the root", true, func(t *testing.T, r *gittest.Repo, p *Place, _ string) {
			r.Write("sub/deep/a", "a\n")
			p.Passed = []string{p.Root + "/sub/deep", p.Root + "/sub"}
		}},
		{"the user's file", true, func(t *testing.T, _ *gittest.Repo, _ *Place, home string) {
			write(t, home+"/.gitconfig", "[user]\n\tname = Somebody Else\n")
		}},
		{"both of the user's files", true, func(t *testing.T, _ *gittest.Repo, _ *Place, home string) {
			write(t, home+"/.gitconfig", "[a]\n\tb = home\n")
			write(t, home+"/.config/git/config", "[a]\n\tb = config\n")
		}},
		{"XDG_CONFIG_HOME", true, func(t *testing.T, _ *gittest.Repo, _ *Place, home string) {
			write(t, home+"/x/git/config", "[a]\n\tb = xdg\n")
			t.Setenv("XDG_CONFIG_HOME", home+"/x")
		}},
		{"a relative XDG_CONFIG_HOME", false, variable("XDG_CONFIG_HOME", "x")},
		{"no HOME", false, func(t *testing.T, _ *gittest.Repo, _ *Place, _ string) {
			t.Setenv("HOME", "")
			require.NoError(t, os.Unsetenv("HOME"))
		}},
		{"GIT_CONFIG_GLOBAL", true, func(t *testing.T, _ *gittest.Repo, _ *Place, home string) {
			write(t, home+"/.gitconfig", "[a]\n\tb = home\n")
			write(t, home+"/other", "[a]\n\tb = other\n")
			t.Setenv("GIT_CONFIG_GLOBAL", home+"/other")
		}},
		{"an empty GIT_CONFIG_GLOBAL", false, variable("GIT_CONFIG_GLOBAL", "")},
		{"GIT_CONFIG_GLOBAL is /dev/null", true, variable("GIT_CONFIG_GLOBAL", os.DevNull)},
		{"GIT_CONFIG_SYSTEM", true, func(t *testing.T, _ *gittest.Repo, _ *Place, home string) {
			write(t, home+"/system", "[a]\n\tb = system\n")
			t.Setenv("GIT_CONFIG_NOSYSTEM", "0")
			t.Setenv("GIT_CONFIG_SYSTEM", home+"/system")
		}},
		{"a strange GIT_CONFIG_NOSYSTEM", false, variable("GIT_CONFIG_NOSYSTEM", "2")},
		{"GIT_CONFIG_COUNT", false, variable("GIT_CONFIG_COUNT", "0")},
		{"GIT_CONFIG_PARAMETERS", false, variable("GIT_CONFIG_PARAMETERS", "'a.b=c'")},
		{"a ceiling", false, variable("GIT_CEILING_DIRECTORIES", "/nowhere")},
		{"an include", false, text("[include]\n\tpath = more\n")},
		{"an include on a condition", false, text("[includeIf \"onbranch:main\"]\n\tpath = more\n")},
		{"a worktree's file", true, func(t *testing.T, r *gittest.Repo, _ *Place, _ string) {
			r.Git("config", "extensions.worktreeConfig", "true")
			r.Git("config", "--worktree", "a.b", "here")
		}},
		{"a worktree's file that is not read", true, func(t *testing.T, r *gittest.Repo, p *Place, _ string) {
			r.Git("config", "extensions.worktreeConfig", "false")
			write(t, p.GitDir+"/config.worktree", "[a]\n\tb = c\n")
		}},
		{"a worktree's file that a user cannot ask for", true, func(t *testing.T, _ *gittest.Repo, p *Place, home string) {
			write(t, home+"/.gitconfig", "[extensions]\n\tworktreeConfig = true\n")
			write(t, p.GitDir+"/config.worktree", "[a]\n\tb = c\n")
		}},
		{"a linked worktree", true, func(t *testing.T, r *gittest.Repo, p *Place, _ string) {
			r.Commit("first")
			r.Git("config", "extensions.worktreeConfig", "true")
			dir := filepath.Join(filepath.Dir(p.Root), "linked")
			r.Git("worktree", "add", "-q", dir, "-b", "linked")
			r.In(dir).Git("config", "--worktree", "a.b", "linked")
			*p = Place{Root: dir, GitDir: p.GitDir + "/worktrees/linked", CommonDir: p.CommonDir}
		}},
		{"a separate git directory", true, func(t *testing.T, r *gittest.Repo, p *Place, _ string) {
			dir := filepath.Join(filepath.Dir(p.Root), "elsewhere")
			r.Git("init", "-q", "--separate-git-dir", dir)
			p.GitDir, p.CommonDir = dir, dir
		}},
		{"a form of a later git", false, text("[core]\n\trepositoryformatversion = 2\n")},
		{"the object format of this program", true, text("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = " + objectformat.Name + "\n")},
		{"the other object format", false, text("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = " + gittest.ByFormat("sha256", "sha1") + "\n")},
		{"an object format in version 0", false, text("[core]\n\trepositoryformatversion = 0\n[extensions]\n\tobjectFormat = " + objectformat.Name + "\n")},
		{"an extension", false, text("[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = files\n")},
		{"a partial clone", true, text("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n")},
		{"a HEAD that is none", false, func(t *testing.T, _ *gittest.Repo, p *Place, _ string) {
			write(t, p.GitDir+"/HEAD", "nothing\n")
		}},
		{"no refs", false, func(t *testing.T, _ *gittest.Repo, p *Place, _ string) {
			require.NoError(t, os.RemoveAll(p.GitDir+"/refs"))
		}},
		{"a folder for a file", false, func(t *testing.T, _ *gittest.Repo, _ *Place, home string) {
			require.NoError(t, os.MkdirAll(home+"/.gitconfig", 0o777))
		}},
		{"an empty GIT_CONFIG_SYSTEM", false, func(t *testing.T, _ *gittest.Repo, _ *Place, _ string) {
			t.Setenv("GIT_CONFIG_NOSYSTEM", "0")
			t.Setenv("GIT_CONFIG_SYSTEM", "")
		}},
		{"a worktree's file in a repository without a version", false, func(t *testing.T, r *gittest.Repo, _ *Place, _ string) {
			r.Git("config", "extensions.worktreeConfig", "true")
			r.Git("config", "--worktree", "a.b", "here")
			r.Git("config", "--unset", "core.repositoryformatversion")
		}},
		{"a core.bare that git refuses", false, text("[core]\n\tbare = maybe\n")},
		{"a HEAD that is a symlink", false, func(t *testing.T, _ *gittest.Repo, p *Place, _ string) {
			require.NoError(t, os.Rename(p.GitDir+"/HEAD", p.GitDir+"/other"))
			require.NoError(t, os.Symlink("other", p.GitDir+"/HEAD"))
		}},
		{"a device for a file", false, func(t *testing.T, _ *gittest.Repo, p *Place, _ string) {
			require.NoError(t, os.Remove(p.CommonDir+"/config"))
			require.NoError(t, os.Symlink(os.DevNull, p.CommonDir+"/config"))
		}},
		{"a huge file", false, func(t *testing.T, _ *gittest.Repo, p *Place, _ string) {
			add(t, *p, strings.Repeat("# nothing\n", maxFile/10+1))
		}},
		{"no line break at the end", true, text("[a]\n\tb = c")},
		{"a line that git refuses", false, text("[a\n")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, place, home := world(t)
			tc.change(t, r, &place, home)
			got, ok := Read(place, "git")
			require.Equal(t, tc.taken, ok)
			if !ok {
				return
			}
			want, err := git.Git{Dir: append(place.Passed, place.Root)[0]}.Config(t.Context())
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
}

// TestReadRejectsRepositoryOfOtherUser checks that Read leaves repositories of another user to git.
func TestReadRejectsRepositoryOfOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to give a folder away")
	}
	for _, part := range []string{"", ".git"} {
		_, place, _ := world(t)
		_, ok := Read(place, "git")
		require.True(t, ok)
		require.NoError(t, os.Chown(filepath.Join(place.Root, part), 12345, 12345))
		_, ok = Read(place, "git")
		assert.False(t, ok, part)
	}
}
