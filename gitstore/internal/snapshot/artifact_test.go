package snapshot_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/snapshot"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
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

func TestSaveInAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gittest.Conflict)
	req := w.request(checkpoint.ConflictStart)
	saved := w.save(req)
	rev := saved.Commit.String()
	for path, want := range map[string]string{
		"conflicts/1/a.txt": "one", "conflicts/2/a.txt": "ours", "conflicts/3/a.txt": "theirs",
		"conflicts/1/dir/b.txt": "two", "conflicts/3/dir/b.txt": "theirs",
		"conflicts/2/new.txt": "ours", "conflicts/3/new.txt": "theirs",
	} {
		assert.Equal(t, want, w.Git("cat-file", "blob", rev+":"+path), path)
	}
	assert.Equal(t, []string{"a.txt", "new.txt"}, w.paths(rev+":conflicts/2"))
	assert.Equal(t, w.Git("rev-parse", "HEAD:a.txt"), w.Git("rev-parse", rev+":staged/a.txt"), "staged/ has HEAD's version")
	assert.Equal(t, []string{checkpoint.HashText(w.Git("rev-parse", "MERGE_HEAD"))}, saved.Record.Snapshot().MergeHead)
	assert.Contains(t, w.Git("cat-file", "blob", rev+":state/a.txt"), "<<<<<<<")
	var conflicted []string
	for _, f := range saved.Record.Files() {
		if f.Status == "conflicted" {
			conflicted = append(conflicted, f.Path)
		}
	}
	assert.Equal(t, []string{"a.txt", "dir/b.txt", "new.txt"}, conflicted)
	w.sound()
}

func TestIntentToAdd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Write("later.txt", "x\n")
	w.Write("deep/er/later.txt", "x\n")
	w.Git("add", "-N", ".")
	req := w.request(checkpoint.Manual)
	saved := w.save(req)
	rev := saved.Commit.String()
	assert.Equal(t, []string{"deep/er/later.txt", "later.txt"}, saved.Record.Snapshot().IntentToAdd)
	assert.NotContains(t, strings.Join(w.paths(rev+":staged"), " "), "later")
	assert.Equal(t, []string{"deep/er/later.txt", "later.txt"}, w.unstaged(rev))
	w.checkStaged(saved)
}

// TestOutputsReportMissingAndChangedFiles checks the files that a record refers to, beside a checkpoint
// that a restore can bring back.
func TestOutputsReportMissingAndChangedFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(r *gittest.Repo) {
		r.Write("moved", "2\n")
		r.Git("add", "moved")
		r.Commit("moved")
	})
	for _, name := range []string{"a", "b", "held", "back", "moved"} {
		w.Write(name, "1\n")
	}
	w.Git("add", "back")
	record, digest := checkpoint.New(), "blob:"+w.Hash("1\n")
	for i, place := range []string{"a", "b", "c", "./held", "back", "moved", "../away"} {
		require.NoError(t, record.Doc().Assign(fmt.Sprintf("agent_outputs.dev.a%d.output_location", i), place))
	}
	for _, name := range []string{"a0", "a1", "a5"} {
		record.SetOutputDigest("dev", name, digest)
	}
	c := w.captured().Checkpoint
	w.Write("b", "2\n")
	w.Write("moved", "2\n")
	w.remove("held")
	w.remove("back")
	got, err := w.s.Files.Outputs(ctx, &c, record)
	require.NoError(t, err)
	assert.Equal(t, snapshot.OutputReport{Missing: []string{"c", "../away"}, Changed: []string{"b"}}, got)
	c.Commit = plumbing.ZeroHash // the checkpoint cannot be restored
	got, err = w.s.Files.Outputs(ctx, &c, record)
	require.NoError(t, err)
	assert.Equal(t, snapshot.OutputReport{Missing: []string{"c", "back", "../away"}, Changed: []string{"b", "moved"}}, got)
}
