package gitstore

import (
	"bytes"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// checkpointOf returns a saved checkpoint.
func (w *world) checkpointOf(saved *Saved) *Checkpoint {
	w.t.Helper()
	c, err := w.s.Find(ctx, "42", string(saved.ID))
	require.NoError(w.t, err)
	return c
}

// between returns changed files as "status path", and git's diff text.
func (w *world) between(from, to *Saved, paths ...string) (files []string, diff string) {
	w.t.Helper()
	b, err := w.s.Files.Compare(w.checkpointOf(from), w.checkpointOf(to), paths...)
	require.NoError(w.t, err)
	changes, err := b.Files(ctx)
	require.NoError(w.t, err)
	for _, c := range changes {
		files = append(files, strings.TrimSpace(c.Status+" "+c.Path+" "+c.From))
	}
	var out bytes.Buffer
	require.NoError(w.t, b.Patch(ctx, &out))
	return files, out.String()
}

// Without a first checkpoint, Diff compares with HEAD at save time, regardless of its
// current location. Diff settings of the user do not affect patches.
func TestDiffWithHeadAtSave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Write("a.txt", "changed\n")
	w.Write("new\nfile.txt", "new\n")
	w.Git("add", "-A")
	one := w.save(w.request(checkpoint.Manual))
	w.Git("commit", "-qam", "went on")
	for _, kv := range [][2]string{{"diff.noprefix", "true"}, {"diff.external", "false"}, {"diff.context", "0"}, {"color.diff", "always"}} {
		w.Git("config", kv[0], kv[1])
	}
	b, err := w.s.Files.Compare(nil, w.checkpointOf(one))
	require.NoError(t, err)
	files, err := b.Files(ctx)
	require.NoError(t, err)
	changes, patch, whole, err := b.Changes(ctx, 1<<20)
	require.NoError(t, err)
	assert.True(t, whole)
	assert.Equal(t, files, changes)
	require.Len(t, changes, 2)
	assert.Equal(t, "modified a.txt, added new\nfile.txt",
		changes[0].Status+" "+changes[0].Path+", "+changes[1].Status+" "+changes[1].Path)
	assert.Regexp(t, `(?s)^diff --git a/a\.txt b/a\.txt\n.*\n\+changed\ndiff --git "a/new\\nfile\.txt" "b/new\\nfile\.txt"\n.*\n\+new\n$`, string(patch))

	changes, part, whole, err := b.Changes(ctx, 30)
	require.NoError(t, err)
	assert.False(t, whole)
	assert.Equal(t, files, changes)
	assert.Equal(t, string(patch[:30]), string(part))
}

func TestDiffUnmergedFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := w.save(w.request(checkpoint.Manual))
	w.Git("checkout", "-q", "-b", "theirs")
	w.Write("a.txt", "theirs\n")
	w.Git("commit", "-qam", "theirs")
	w.Git("checkout", "-q", "main")
	w.Write("a.txt", "ours\n")
	w.Git("commit", "-qam", "ours")
	_, err := w.Run(nil, "merge", "theirs")
	require.Error(t, err)
	two := w.save(w.request(checkpoint.Manual))
	files, diff := w.between(one, two)
	assert.Equal(t, []string{"conflicted a.txt"}, files)
	assert.Contains(t, diff, "+ours\n")
	three := w.save(w.request(checkpoint.Manual))
	files, _ = w.between(two, three)
	assert.Empty(t, files)
}
