package treediff

import (
	"os"
	"testing"

	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWorktreeDiff checks that the worktree file is the old side, and the checkpoint's
// version the new side.
func TestWorktreeDiff(t *testing.T) {
	t.Parallel()
	r, at, staged := newPlace(t)
	w := &WorktreeFiles{Git: at.Git, Root: r.Dir, Objects: at.Objects.(Sized), MaxFile: 100}
	r.Write("a.txt", "mine\n")
	blob := plumbing.NewHash(r.Git("rev-parse", staged.String()+":a.txt"))
	target := contents.Target{Path: "a.txt", Work: true, WorkWant: contents.Side{Mode: trees.ModeFile, Hash: blob}}
	got, err := w.Diff(t.Context(), target)
	require.NoError(t, err)
	assert.Contains(t, got, "--- a/mine\n+++ b/checkpoint\n@@ -1 +1 @@\n-mine\n+changed\n")

	target.WorkWant = contents.Side{}
	got, err = w.Diff(t.Context(), target)
	require.NoError(t, err)
	assert.Contains(t, got, "--- a/mine\n+++ /dev/null\n", "it would be removed")

	target.WorkWant = contents.Side{Mode: trees.ModeFile, Hash: blob}
	require.NoError(t, os.Remove(r.Path("a.txt")))
	got, err = w.Diff(t.Context(), target)
	require.NoError(t, err)
	assert.Contains(t, got, "--- /dev/null\n+++ b/checkpoint\n", "it is gone")

	w.MaxFile = 3
	_, err = w.Diff(t.Context(), target)
	require.ErrorContains(t, err, `compare "a.txt": more than 3 bytes`)
}
