package gitstore

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCheckedOutAtPathWithLineBreak(t *testing.T) {
	w := newWorld(t)
	if _, err := w.s.git.Output(ctx, "worktree", "list", "--porcelain", "-z"); err != nil {
		t.Skip("git before 2.36 cannot tell where such a path ends")
	}
	dir := filepath.Join(t.TempDir(), "a\nbranch refs/heads/other")
	w.Git("worktree", "add", "-q", "-b", "topic", dir)
	assert.Equal(t, filepath.Base(dir), filepath.Base(w.s.checkedOut(ctx, "topic")))
	assert.Empty(t, w.s.checkedOut(ctx, "other"))
}

func TestParseWorktrees(t *testing.T) {
	lines := []string{
		"worktree /a", "HEAD 1", "branch refs/heads/main", "", "worktree /b c", "HEAD 1", "detached", "",
		"worktree /d", "branch refs/heads/x/y", "locked a branch", "", "",
	}
	want := []worktreeEntry{{path: "/a", branch: "refs/heads/main"}, {path: "/b c"}, {path: "/d", branch: "refs/heads/x/y"}}
	for _, end := range []string{"\n", "\x00"} {
		assert.Equal(t, want, parseWorktrees(strings.Join(lines, end), end), "%q", end)
	}
	assert.Equal(t, []worktreeEntry{{path: "/a.git", bare: true}, {path: "/b"}}, parseWorktrees("worktree /a.git\nbare\n\nworktree /b\n", "\n"))
	assert.Empty(t, parseWorktrees("", "\n"))
}

func TestMainRoot(t *testing.T) {
	w := newWorld(t)
	linked := filepath.Join(t.TempDir(), "linked")
	w.Git("worktree", "add", "-q", "-b", "topic", linked)
	root, err := worldIn(t, w.Repo, linked).s.MainRoot(ctx)
	assert.NoError(t, err)
	assert.Equal(t, w.s.Root(), root)

	bare := filepath.Join(t.TempDir(), "bare.git")
	w.Git("clone", "-q", "--bare", ".", bare)
	w.Git("-C", bare, "worktree", "add", "-q", linked+"2", "main")
	root, err = worldIn(t, w.Repo, linked+"2").s.MainRoot(ctx)
	assert.NoError(t, err)
	assert.Empty(t, root)
}
