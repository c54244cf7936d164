package repository

import (
	"path/filepath"
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

func TestWorktrees(t *testing.T) {
	t.Parallel()
	r, g := committed(t)
	topic, detached := filepath.Join(t.TempDir(), "a b"), filepath.Join(t.TempDir(), "detached")
	r.Git("worktree", "add", "-q", "-b", "x/y", topic)
	r.Git("worktree", "lock", "--reason", "a branch", topic)
	r.Git("worktree", "add", "-q", "--detach", detached)
	list, err := Worktrees(t.Context(), g)
	require.NoError(t, err)
	require.Len(t, list, 3)
	assert.Equal(t, WorktreeEntry{Path: r.Dir, Branch: "refs/heads/" + r.Git("branch", "--show-current")}, list[0])
	assert.Equal(t, "a b", filepath.Base(CheckedOut(t.Context(), g, "x/y")))
	assert.Empty(t, list[2].Branch+CheckedOut(t.Context(), g, "other"))
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
