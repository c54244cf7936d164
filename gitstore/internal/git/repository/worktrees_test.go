package repository

import (
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/internal/git"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// committed returns a repository with a commit.
func committed(t *testing.T) (*gittest.Repo, git.Git) {
	r := gittest.New(t)
	r.Write("a.txt", "a\n")
	r.Write("dir/b.txt", "two\n")
	r.Git("add", ".")
	r.Commit("first")
	return r, git.Git{Dir: r.Dir}
}

func TestCheckedOutAtPathWithLineBreak(t *testing.T) {
	t.Parallel()
	r, g := committed(t)
	if _, err := g.Output(t.Context(), "worktree", "list", "--porcelain", "-z"); err != nil {
		t.Skip("git before 2.36 cannot tell where such a path ends")
	}
	dir := filepath.Join(t.TempDir(), "a\nbranch refs/heads/other")
	r.Git("worktree", "add", "-q", "-b", "topic", dir)
	assert.Equal(t, filepath.Base(dir), filepath.Base(CheckedOut(t.Context(), g, "topic")))
	assert.Empty(t, CheckedOut(t.Context(), g, "other"))
}

func TestParseWorktrees(t *testing.T) {
	t.Parallel()
	lines := []string{
		"worktree /a", "HEAD 1", "branch refs/heads/main", "", "worktree /b c", "HEAD 1", "detached", "",
		"worktree /d", "branch refs/heads/x/y", "locked a branch", "", "",
	}
	want := []WorktreeEntry{{Path: "/a", Branch: "refs/heads/main"}, {Path: "/b c"}, {Path: "/d", Branch: "refs/heads/x/y"}}
	for _, end := range []string{"\n", "\x00"} {
		assert.Equal(t, want, parseWorktrees(strings.Join(lines, end), end), "%q", end)
	}
	assert.Equal(t, []WorktreeEntry{{Path: "/a.git", Bare: true}, {Path: "/b"}}, parseWorktrees("worktree /a.git\nbare\n\nworktree /b\n", "\n"))
	assert.Empty(t, parseWorktrees("", "\n"))
}

func TestMainRootOfLinkedWorktree(t *testing.T) {
	t.Parallel()
	r, _ := committed(t)
	linked := filepath.Join(t.TempDir(), "linked")
	r.Git("worktree", "add", "-q", "-b", "topic", linked)
	assert.Equal(t, r.Dir, mainRoot(t, linked))
	assert.Equal(t, r.Dir, mainRoot(t, r.Dir))

	bare := filepath.Join(t.TempDir(), "bare.git")
	r.Git("clone", "-q", "--bare", ".", bare)
	r.Git("-C", bare, "worktree", "add", "-q", linked+"2", "main")
	assert.Empty(t, mainRoot(t, linked+"2"))
}

func mainRoot(t *testing.T, dir string) string {
	t.Helper()
	g := git.Git{Dir: dir}
	r, _, err := Find(t.Context(), g)
	require.NoError(t, err)
	root, err := r.MainRoot(t.Context(), g)
	require.NoError(t, err)
	return root
}

// UnderWay and MergeHeads read the files of an operation in progress.
func TestUnderWayReturnsOperation(t *testing.T) {
	t.Parallel()
	r, g := committed(t)
	gittest.Conflict(r)
	f, _, err := Find(t.Context(), g)
	require.NoError(t, err)
	assert.Equal(t, "merge", f.UnderWay())
	assert.Equal(t, []string{r.Git("rev-parse", "other")}, f.MergeHeads())
	r.Git("merge", "--abort")
	assert.Empty(t, f.UnderWay())
	assert.Empty(t, f.MergeHeads())
	for what, args := range map[string][]string{
		"rebase": {"rebase", "other"}, "cherry-pick": {"cherry-pick", "other"}, "revert": {"revert", "HEAD~1"},
	} {
		_, err := r.Run(nil, args...)
		require.Error(t, err, what)
		assert.Equal(t, what, f.UnderWay())
		r.Git(args[0], "--abort")
		assert.Empty(t, f.UnderWay())
	}
}

// A rebase of either backend and a bisection name the branch in their files.
func TestOperationBranch(t *testing.T) {
	t.Parallel()
	r, g := committed(t)
	gittest.Conflict(r)
	r.Git("merge", "--abort")
	branch := r.Git("branch", "--show-current")
	f, _, err := Find(t.Context(), g)
	require.NoError(t, err)
	assert.Empty(t, f.OperationBranch())
	for _, backend := range []string{"--merge", "--apply"} {
		_, err := r.Run(nil, "rebase", backend, "other")
		require.Error(t, err)
		assert.Empty(t, r.Git("branch", "--show-current"))
		assert.Equal(t, branch, f.OperationBranch(), backend)
		r.Git("rebase", "--abort")
	}
	r.Git("bisect", "start", "HEAD", "HEAD~1")
	assert.Equal(t, branch, f.OperationBranch())
	r.Git("bisect", "reset")
	assert.Empty(t, f.OperationBranch())
}
