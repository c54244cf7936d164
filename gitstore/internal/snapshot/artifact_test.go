package snapshot_test

import (
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestArtifacts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(r *gittest.Repo) { r.Write(".gitignore", "out/\n") })
	w.Write("out/log.txt", "ignored by git\n")
	w.Write("out/deep/x", "x")
	require.NoError(t, os.Chmod(w.Path("out/deep/x"), 0o755))
	req := w.request(checkpoint.Manual)
	req.MaxFile = 1
	req.Artifacts = []string{"out/log.txt", "./out/deep/../deep/x", "out//log.txt", "a.txt"}
	saved := w.save(req)
	rev := saved.Commit.String()
	assert.Equal(t, []string{"out/deep/x", "out/log.txt"}, w.unstaged(rev))
	assert.Equal(t, "ignored by git", w.Git("cat-file", "blob", rev+":state/out/log.txt"))
	assert.Contains(t, w.Git("ls-tree", rev+":state/out/deep"), "100755")
	w.sound()
}

func TestArtifactsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	outside := filepath.Join(filepath.Dir(w.Dir), "outside")
	must(os.WriteFile(outside, []byte("secret"), 0o666))
	must(os.Symlink(outside, w.Path("tofile")))
	must(os.Symlink(filepath.Dir(outside), w.Path("todir")))
	must(os.Symlink("dir", w.Path("inside")))
	w.Write("GIT~1", "x")
	w.Write("dir/.git /x", "x")
	for _, name := range []string{
		"../outside", "dir/../../outside", outside, w.Path("a.txt"), "/", "..", ".", "", "dir", "none", "dir/none/x",
		"tofile", "todir/outside", "inside/b.txt", ".git/config", ".git/HEAD", "GIT~1", "dir/.git /x", "a.txt/x", "a\x00b",
	} {
		req := w.request(checkpoint.Manual)
		req.Artifacts = []string{"a.txt", name}
		_, err := w.s.Save(ctx, req)
		require.ErrorContains(t, err, "artifact", "%q", name)
		assert.NotContains(t, err.Error(), "%!", "%q", name)
	}
	l, err := w.s.List(ctx, "42", 0)
	require.NoError(t, err)
	assert.Empty(t, l.Checkpoints)
}

func TestArtifactsOverTheLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Write("a.txt", "changed\n")
	req := w.request(checkpoint.Manual)
	req.Artifacts, req.MaxSize = []string{"a.txt"}, 3
	_, err := w.s.Save(ctx, req)
	require.ErrorContains(t, err, `artifact "a.txt": over the size limit`)
}
