package gitstore

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/fsutil"
	"git-checkpoint/gitstore/retention"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// allRefWork runs all operations that read and move refs.
func allRefWork(t *testing.T, w *world) {
	t.Helper()
	w.Write("a.txt", "staged\n")
	w.Git("add", "-A")
	w.checkStaged(w.save(w.request(checkpoint.Manual)))
	ids := append(w.live(), w.manual(2)...)
	saved := w.thinned(checkpoint.Interval, retention.Policy{checkpoint.Manual: {Keep: 1}, checkpoint.Interval: {Keep: 1}})
	assert.Equal(t, []checkpoint.ID{ids[1], ids[0]}, saved.Pruned)
	assert.Equal(t, "main", saved.Branch)
	_, err := w.s.Archive(ctx, "42", ids[2:], retention.ReasonAsked)
	require.NoError(t, err)
	require.NoError(t, w.s.Drop(ctx, "42", ids[2:]))
	for _, want := range [][]checkpoint.ID{ids[2:], ids[2:]} {
		done, err := w.s.Revert(ctx, "undo", Which{Issue: "42"}, nil)
		require.NoError(t, err)
		assert.ElementsMatch(t, want, done.IDs())
	}
	assert.Equal(t, []checkpoint.ID{ids[2], saved.ID}, w.live())
	issues, strange, err := w.s.Issues(ctx, false)
	require.NoError(t, err)
	assert.Equal(t, []checkpoint.Issue{"42"}, issues)
	assert.Empty(t, strange)
	w.Git("checkout", "-q", "--detach")
	assert.Empty(t, w.save(w.request(checkpoint.Manual)).Branch)
	w.Git("symbolic-ref", "HEAD", "refs/heads/unborn")
	assert.Empty(t, w.save(w.request(checkpoint.Manual)).Record.Snapshot().Head)
	report, err := w.s.Verify(ctx, "42")
	require.NoError(t, err)
	assert.Empty(t, report.Errors)
}

// Unless refs are files, the store uses git to read them. This works for any backend,
// including files.
func TestRefsThroughGit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.s.repo.Info.RefFormat, w.s.repo.Refs.Files = "another", false
	allRefWork(t, w)
}

// Git 2.54 can store refs in any folder, even with the files backend.
func TestRefsElsewhere(t *testing.T) {
	for name, speak := range map[string]func(t *testing.T, r *gittest.Repo, where string){
		"the environment": func(t *testing.T, _ *gittest.Repo, where string) { t.Setenv("GIT_REFERENCE_BACKEND", where) },
		"settings": func(_ *testing.T, r *gittest.Repo, where string) {
			r.Git("config", "core.repositoryFormatVersion", "1")
			r.Git("config", "extensions.refStorage", where)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			elsewhere := t.TempDir()
			for _, sub := range []string{"refs", "logs"} {
				require.NoError(t, os.CopyFS(filepath.Join(elsewhere, sub), os.DirFS(w.GitPath(sub))))
			}
			require.NoError(t, os.WriteFile(filepath.Join(elsewhere, "HEAD"), []byte(w.Read(".git/HEAD")), 0o666))
			speak(t, w.Repo, "files://"+elsewhere)
			cmd := exec.Command("git", "-C", w.Dir, "update-ref", "refs/there", "HEAD")
			if said, err := cmd.CombinedOutput(); err != nil || !fsutil.Exists(filepath.Join(elsewhere, "refs/there")) {
				t.Skipf("this git keeps its refs in one place (2.54 need not): %s", said)
			}
			w.s = w.open(w.Dir)
			w.manual(2)
			assert.FileExists(t, filepath.Join(elsewhere, LiveRef("42")))
			assert.NoFileExists(t, w.GitPath(LiveRef("42")))
			assert.Len(t, w.live(), 2)
		})
	}
}
