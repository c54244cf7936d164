package storetest_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
	"git-checkpoint/gitstore/testing/gittest"
	"git-checkpoint/gitstore/testing/storetest"

	"github.com/stretchr/testify/require"
)

// The git store keeps all promises for each form of refs and objects, in each kind of
// worktree, and for each way to copy refs. Loose refs are tested with all promises. Other
// forms run a part of the promises, or all promises with GIT_CHECKPOINT_TEST_MODEL=full.
func TestGitStore(t *testing.T) {
	t.Parallel()
	t.Run("loose", func(t *testing.T) { storetest.Run(t, loose) })
	if testing.Short() {
		t.Log("loose refs only: the other forms are not in short mode")
		return
	}
	forms := []struct {
		name  string
		place storetest.Maker
	}{
		{"packed", packed},
		{"worktree", linked},
		{"bare", bare},
		{"bundle", bundled},
		{"clone", cloned},
	}
	require.Len(t, forms, shares-1)
	for k, form := range forms {
		t.Run(form.name, func(t *testing.T) { run(t, form.place, k) })
	}
}

// shares is the number of forms in TestGitStore plus reftable.
const shares = 6

// run tests a part of the promises, or all promises in full mode.
func run(t *testing.T, place storetest.Maker, share int) {
	if full {
		storetest.Run(t, place)
		return
	}
	for k, p := range storetest.Promises() {
		if k%shares == share {
			t.Run(p.Name, func(t *testing.T) { p.Try(t, place) })
		}
	}
}

func loose(t testing.TB, now func() time.Time) storetest.World {
	r := plain.New(t)
	w := world(r, func() storetest.Subject { return open(t, r.Dir, now) })
	w.Peer, w.Meet = peer(t, r, now)
	return w
}

// peer returns a function that opens another clone of a remote, and a function that
// synchronizes both clones.
func peer(t testing.TB, r *gittest.Repo, now func() time.Time) (func() storetest.Subject, func()) {
	dir := filepath.Join(t.TempDir(), "peer")
	return func() storetest.Subject {
			share(t, r, dir)
			return open(t, dir, now)
		}, func() {
			for _, at := range []string{r.Dir, dir, r.Dir} {
				synchronize(t, open(t, at, now))
			}
		}
}

// share creates a bare remote of a repository and a clone of that remote.
func share(t testing.TB, r *gittest.Repo, clone string) {
	t.Helper()
	hub := filepath.Join(t.TempDir(), "hub.git")
	r.Git("clone", "-q", "--bare", "--template=", ".", hub)
	r.Git("remote", "add", "origin", hub)
	r.Git("clone", "-q", "--template=", hub, clone)
}

func synchronize(t testing.TB, s *gitstore.Store) {
	t.Helper()
	done, err := s.Sync(context.Background(), gitstore.SyncRequest{Remote: "origin", Archived: true})
	require.NoError(t, err)
	for _, d := range done {
		require.NoError(t, d.Err)
	}
}

// packed packs all refs and objects after each change.
func packed(t testing.TB, now func() time.Time) storetest.World {
	r := plain.New(t)
	for _, key := range []string{"gc.reflogExpire", "gc.reflogExpireUnreachable"} {
		r.Git("config", key, "never") // the test clock is not git's clock
	}
	pack := func() {
		r.Git("pack-refs", "--all")
		_, _ = r.Run(nil, "gc", "-q", "--prune=now") // one of two concurrent gc processes fails
	}
	return world(r, func() storetest.Subject { return &after{open(t, r.Dir, now), pack} })
}

// linked opens handles alternately in a linked worktree and the main worktree.
func linked(t testing.TB, now func() time.Time) storetest.World {
	r := plain.New(t)
	l := r.In(filepath.Join(t.TempDir(), "linked"))
	r.Git("worktree", "add", "-q", "-b", "other", l.Dir)
	handles := new(atomic.Int32)
	return world(l, func() storetest.Subject {
		if handles.Add(1)%2 == 1 {
			return open(t, l.Dir, now)
		}
		return open(t, r.Dir, now)
	})
}

// bare saves in a worktree of a bare repository, and runs other operations in the bare
// repository.
func bare(t testing.TB, now func() time.Time) storetest.World {
	r := plain.New(t)
	dir := filepath.Join(t.TempDir(), "bare.git")
	r.Git("clone", "-q", "--bare", "--template=", ".", dir)
	b, l := r.In(dir), r.In(filepath.Join(t.TempDir(), "linked"))
	b.Git("worktree", "add", "-q", l.Dir, "main")
	return world(l, func() storetest.Subject { return &inBare{open(t, dir, now), open(t, l.Dir, now)} })
}

// bundled reads from a new repository that contains only refs from a bundle.
func bundled(t testing.TB, now func() time.Time) storetest.World {
	r := plain.New(t)
	return world(r, func() storetest.Subject {
		return &elsewhere{open(t, r.Dir, now), &bundle{from: r, open: func(dir string) *gitstore.Store { return open(t, dir, now) }, t: t}}
	})
}

// cloned saves in a clone and reads in another clone of the same bare remote. Its Subject
// has no Undo, because a drop applies to both clones.
func cloned(t testing.TB, now func() time.Time) storetest.World {
	r, dir := plain.New(t), filepath.Join(t.TempDir(), "clone")
	share(t, r, dir)
	w := world(r, func() storetest.Subject {
		e := &elsewhere{open(t, r.Dir, now), &clone{t: t, from: open(t, r.Dir, now), to: open(t, dir, now), refs: r}}
		return struct{ storetest.Subject }{e}
	})
	w.Rewrite = nil // a sync would restore the original record
	return w
}

// The git store keeps its promises with the reftable backend. If this git has no
// reftable, the test starts a new process with another git, because a process finds git
// only once.
func TestGitStoreReftable(t *testing.T) {
	gittest.Slow(t)
	if exec.Command("git", "init", "-q", "--ref-format=reftable", t.TempDir()).Run() == nil {
		run(t, func(t testing.TB, now func() time.Time) storetest.World {
			r := refTable.New(t)
			return world(r, func() storetest.Subject { return open(t, r.Dir, now) })
		}, shares-1)
		return
	}
	require.Empty(t, otherGitName, "the other git has no reftable either")
	again := exec.Command(os.Args[0], "-test.run=^TestGitStoreReftable$")
	again.Env = append(os.Environ(), "GIT_CHECKPOINT_TEST_OTHER_GIT=trixie", "PATH="+otherGit(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	if full {
		again.Env = append(again.Env, "GIT_CHECKPOINT_TEST_MODEL=full")
	}
	out, err := again.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "PASS")
}

// otherGit returns the directory of a git with reftable. In CI it is required.
func otherGit(t testing.TB) string {
	t.Helper()
	script, err := filepath.Abs(filepath.Join("..", "..", "..", "..", "shared", "tools", "other-git"))
	require.NoError(t, err)
	cached := filepath.Join("/tmp", "git-checkpoint-git-trixie")
	if _, err := os.Stat(filepath.Join(cached, "bin", "git")); err != nil && os.Getenv("CI") != "true" {
		t.Skip("not tried: this git has no reftable (2.45 has)")
	}
	out, err := exec.Command(script, "trixie", cached).Output()
	require.NoError(t, err, script)
	return strings.TrimSpace(string(out))
}

// inBare saves in a worktree.
type inBare struct {
	*gitstore.Store
	worktree *gitstore.Store
}

func (b *inBare) Save(ctx context.Context, req gitstore.SaveRequest) (*gitstore.Saved, error) {
	return b.worktree.Save(ctx, req)
}

// An after calls a function after each change.
type after struct {
	*gitstore.Store
	do func()
}

func (a *after) Save(ctx context.Context, req gitstore.SaveRequest) (*gitstore.Saved, error) {
	defer a.do()
	return a.Store.Save(ctx, req)
}

func (a *after) Pin(ctx context.Context, i checkpoint.Issue, id checkpoint.ID, on bool) (bool, error) {
	defer a.do()
	return a.Store.Pin(ctx, i, id, on)
}

func (a *after) Drop(ctx context.Context, i checkpoint.Issue, ids []checkpoint.ID) error {
	defer a.do()
	return a.Store.Drop(ctx, i, ids)
}

func (a *after) Prune(ctx context.Context, req gitstore.PruneRequest) (*gitstore.Pruned, error) {
	defer a.do()
	return a.Store.Prune(ctx, req)
}

func (a *after) Archive(ctx context.Context, i checkpoint.Issue, ids []checkpoint.ID, why retention.Reason) ([]checkpoint.ID, error) {
	defer a.do()
	return a.Store.Archive(ctx, i, ids, why)
}

func (a *after) Revert(ctx context.Context, way gitstore.Way, which gitstore.Which, shown *gitstore.Undone) (*gitstore.Undone, error) {
	defer a.do()
	return a.Store.Revert(ctx, way, which, shown)
}
