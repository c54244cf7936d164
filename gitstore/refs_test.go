package gitstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/git/objectformat"
	"git-checkpoint/gitstore/internal/refs"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadRefReportsBrokenRef(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, text := range []string{"", "\n", "zz\n", strings.Repeat("0", objectformat.HexSize-1), "ref: refs/heads/main\n", strings.Repeat("\x00", objectformat.HexSize+1)} {
		file := w.GitPath("refs/checkpoints/42")
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
		_, err := w.s.repo.ReadRef(ctx, "refs/checkpoints/42")
		require.ErrorContains(t, err, "refs/checkpoints/42", "%q", text)
		_, err = w.s.Save(ctx, w.request(checkpoint.Manual))
		var broken *CorruptError
		require.ErrorAs(t, err, &broken, "%q", text)
		assert.Contains(t, err.Error(), "refs/checkpoints/42")
	}
}

func TestReadHead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	commit, file := plumbing.NewHash(w.Git("rev-parse", "HEAD")), w.GitPath("HEAD")
	for name, c := range map[string]struct {
		do   func()
		want repo.Head
	}{
		"branch":   {func() {}, repo.Head{Branch: "main", Commit: commit}},
		"packed":   {func() { w.Git("pack-refs", "--all") }, repo.Head{Branch: "main", Commit: commit}},
		"detached": {func() { w.Git("checkout", "-q", "--detach") }, repo.Head{Branch: "", Commit: commit}},
		"unborn":   {func() { w.Git("symbolic-ref", "HEAD", "refs/heads/new/one") }, repo.Head{Branch: "new/one", Commit: plumbing.ZeroHash}},
		"not a head": {func() {
			w.Git("symbolic-ref", "HEAD", "refs/remotes/x")
			w.Git("update-ref", "refs/remotes/x", commit.String())
		}, repo.Head{Branch: "refs/remotes/x", Commit: commit}},
		"symbolic": {func() {
			w.Git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
			w.Git("symbolic-ref", "HEAD", "refs/heads/alias")
		}, repo.Head{Branch: "main", Commit: commit}},
		"symlink": {func() {
			require.NoError(t, os.Remove(file))
			require.NoError(t, os.Symlink("refs/heads/main", file))
		}, repo.Head{Branch: "main", Commit: commit}},
	} {
		t.Run(name, func(t *testing.T) {
			_ = os.Remove(file)
			require.NoError(t, os.WriteFile(file, []byte("ref: refs/heads/main\n"), 0o666))
			c.do()
			got, err := w.s.repo.ReadHead(ctx)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
			asked, err := w.s.repo.AskHead(ctx)
			require.NoError(t, err)
			assert.Equal(t, c.want, asked)
		})
	}
}

// An unreadable branch is not unborn: otherwise the checkpoint would mark all files as
// new.
func TestReadHeadRejectsBrokenBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, os.WriteFile(w.GitPath("refs/heads/main"), nil, 0o666))
	_, err := w.s.Save(ctx, w.request(checkpoint.Manual))
	require.ErrorContains(t, err, "refs/heads/main")
}

// Moves wait for short-lived locks of other processes.
func TestMoveWaitsForALock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.manual(1)
	lock := w.GitPath("refs/checkpoints/42.lock")
	require.NoError(t, os.WriteFile(lock, nil, 0o666))
	time.AfterFunc(400*time.Millisecond, func() { os.Remove(lock) })
	w.manual(1)
	assert.Len(t, w.live(), 2)
}

// Deleting the last ref of a directory deletes the directory.
func TestDeletingTheLastRefOfADirectory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	commit := plumbing.NewHash(w.Git("rev-parse", "HEAD"))
	name := repo.BookRefs + "x/42/x"
	require.NoError(t, w.s.repo.MoveRefs(ctx, "make", refs.Move{Name: name, New: commit}))
	require.NoError(t, w.s.repo.MoveRefs(ctx, "delete", refs.Move{Name: name, Old: commit}))
}

// Inherited dates do not create reflog entries that expire immediately.
func TestReflogHasTheStoresTime(t *testing.T) {
	w := newWorld(t)
	t.Setenv("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z")
	w.manual(1)
	assert.Contains(t, w.Git("log", "-g", "-1", "--date=iso", "--format=%gd", "refs/checkpoints/42"), gittest.Epoch.Format("2006-01-0"))
}
