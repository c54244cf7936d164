package gitstore

import (
	"bytes"
	"os"
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

// Lines counts changed lines by path, including renamed files but no binary files.
func TestDiffCountsLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := strings.Repeat("a line of some length\n", 20)
	w.Write("moved.txt", long)
	w.Git("add", "-A")
	one := w.save(w.request(checkpoint.Manual))
	w.Git("mv", "moved.txt", "new\tdir\n.txt")
	w.Write("new\tdir\n.txt", long+"more\n")
	w.Write("a.txt", "two\nthree\n")
	w.Write("binary", "\x00\x01")
	w.Git("rm", "-q", "dir/b.txt")
	w.Git("add", "new\tdir\n.txt", "a.txt", "binary")
	two := w.save(w.request(checkpoint.Manual))
	b, err := w.s.Files.Compare(w.checkpointOf(one), w.checkpointOf(two))
	require.NoError(t, err)
	files, err := b.Files(ctx)
	require.NoError(t, err)
	lines := map[string][2]int{}
	for _, f := range files {
		if f.Counted {
			lines[f.Path] = [2]int{f.Added, f.Deleted}
		}
	}
	assert.Equal(t, map[string][2]int{"a.txt": {2, 1}, "dir/b.txt": {0, 1}, "new\tdir\n.txt": {1, 0}}, lines)
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

func TestDiffFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Write("moved.txt", strings.Repeat("a line of some length\n", 20))
	w.Write("run.sh", "#!/bin/sh\n")
	w.Git("add", "-A")
	one := w.save(w.request(checkpoint.Manual))
	files, diff := w.between(one, one)
	assert.Empty(t, files)
	assert.Empty(t, diff)

	w.Git("mv", "moved.txt", "new dir.txt")
	must(os.Chmod(w.Path("run.sh"), 0o755))
	w.Write("a.txt", "changed\n")
	w.Write("binary", "\x00\x01")
	w.Git("rm", "-q", "dir/b.txt")
	w.Git("add", "run.sh", "a.txt", "binary")
	two := w.save(w.request(checkpoint.Manual))
	files, diff = w.between(one, two)
	assert.Equal(t, []string{"modified a.txt", "added binary", "deleted dir/b.txt", "renamed new dir.txt moved.txt", "modified run.sh"}, files)
	for _, want := range []string{"rename to new dir.txt\n", "new mode 100755\n", "Binary files /dev/null and b/binary differ\n", "+changed\n"} {
		assert.Contains(t, diff, want)
	}
	files, _ = w.between(two, one, "dir", "binary")
	assert.Equal(t, []string{"deleted binary", "added dir/b.txt"}, files)
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
