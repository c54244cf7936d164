package gitstore

import (
	"path/filepath"
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

func TestWorktreeOf(t *testing.T) {
	list := "worktree /a\nHEAD 1\nbranch refs/heads/main\n\nworktree /b c\nHEAD 1\ndetached\n\nworktree /d\nbranch refs/heads/x/y\n\n"
	for branch, want := range map[string]string{"main": "/a", "x/y": "/d", "x": "", "y": "", "": ""} {
		assert.Equal(t, want, worktreeOf(list, "\n", branch), branch)
	}
}
