package restore_test

import (
	"io/fs"
	"os"
	"testing"

	"git-checkpoint/gitstore"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRestoreMergesCleaned checks that merges use blobs after clean filters, so that line
// endings do not matter. An executable bit set by one side must be kept.
func TestRestoreMergesCleaned(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.Write(".gitattributes", "a text eol=crlf\n")
	x.Git("add", "-A")
	x.Commit("attributes")
	x.Write("b", "theirs\x00\n")
	x.Write("a", "0 a\r\nx\r\ny\r\nz\r\ntheir end\r\n")
	x.Git("add", "-A")
	c := x.save()
	x.clean()
	x.forgetHere()
	x.Write("a", "my a\r\nx\r\ny\r\nz\r\nend\r\n")
	x.Write("b", "mine\x00\n")
	require.NoError(t, os.Chmod(x.Path("a"), 0o755))
	done := x.restore(c, mergeBoth)
	assert.Empty(t, done.Merged)
	assert.Equal(t, []string{"b"}, done.Skipped, "a binary file")
	assert.Equal(t, "my a\r\nx\r\ny\r\nz\r\ntheir end\r\n", x.Read("a"))
	info, err := os.Stat(x.Path("a"))
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o755), info.Mode().Perm())
}

// A file that git ignores counts as unknown, even if a checkpoint has its content.
func TestRestoreKeepsIgnoredFiles(t *testing.T) {
	t.Parallel()
	x := newSite(t)
	x.Write(".gitignore", "out\n")
	x.Git("add", "-A")
	x.Commit("ignore")
	save := func(text string) *gitstore.Checkpoint {
		x.Write("out", text)
		return x.save(func(r *gitstore.SaveRequest) { r.Artifacts = []string{"out"} })
	}
	first := save("first\n")
	save("second\n")
	assert.Equal(t, []string{"out"}, x.restore(first, back).Skipped)
	assert.Equal(t, "second\n", x.Read("out"))
	assert.Equal(t, []string{"out"}, x.restore(first, back, force).Restored)
	x.undo()
	assert.Equal(t, "second\n", x.Read("out"))
	require.NoError(t, os.Remove(x.Path("out")))
	assert.Equal(t, []string{"out"}, x.restore(first, back).Restored, "it is gone")
}
