package snapshot_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var ctx = context.Background()

// world is a repository with one commit and a store, so that tests take snapshots through
// the public API.
type world struct {
	*gittest.Repo
	t testing.TB
	s *gitstore.Store
}

// newWorld returns a world; setup runs before the store is opened.
func newWorld(t testing.TB, setup ...func(*gittest.Repo)) *world {
	t.Helper()
	r := gittest.Seed.New(t)
	for _, f := range setup {
		f(r)
	}
	now := gittest.Epoch.Add(24 * time.Hour)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	s, err := gitstore.Open(ctx, gitstore.Options{Dir: r.Dir, Now: clock})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return &world{r, t, s}
}

// request returns a save request for issue 42.
func (w *world) request(trigger checkpoint.Trigger) gitstore.SaveRequest {
	return gitstore.SaveRequest{Issue: "42", Edit: func(r *checkpoint.Record) (*checkpoint.Record, error) {
		if r == nil {
			r = checkpoint.New()
		}
		r.SetTrigger(trigger)
		return r, nil
	}}
}

func (w *world) save(req gitstore.SaveRequest) *gitstore.Saved {
	w.t.Helper()
	saved, err := w.s.Save(ctx, req)
	require.NoError(w.t, err)
	return saved
}

// captured saves a checkpoint with worktree and untracked files.
func (w *world) captured(fields ...func(*gitstore.SaveRequest)) *gitstore.Saved {
	w.t.Helper()
	req := w.request(checkpoint.Manual)
	for _, f := range fields {
		f(&req)
	}
	saved := w.save(req)
	w.sound()
	return saved
}

// sound fails if verify or git fsck reports problems.
func (w *world) sound() {
	w.t.Helper()
	report, err := w.s.Verify(ctx, "42")
	require.NoError(w.t, err)
	require.Empty(w.t, report.Errors)
	out, err := w.Run(nil, "fsck", "--strict", "--no-dangling", "--no-progress")
	require.NoError(w.t, err)
	require.Empty(w.t, string(out))
}

// checkStaged compares a checkpoint's staged/ tree with git write-tree.
func (w *world) checkStaged(saved *gitstore.Saved) {
	w.t.Helper()
	assert.Equal(w.t, w.Git("write-tree"), w.Git("rev-parse", saved.Commit.String()+":staged"))
	w.sound()
}

// paths returns all files of a revision.
func (w *world) paths(rev string) []string {
	w.t.Helper()
	out := strings.TrimSuffix(string(w.Pipe(nil, "ls-tree", "-r", "-z", "--name-only", rev)), "\x00")
	return strings.Split(out, "\x00")
}

// unstaged returns the files of a checkpoint's state that differ from its index.
func (w *world) unstaged(rev string) []string {
	w.t.Helper()
	out := string(w.Pipe(nil, "diff", "-z", "--name-only", "--no-renames", "--diff-filter=d", rev+":staged", rev+":state"))
	if out == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
}

func (w *world) remove(path string) {
	w.t.Helper()
	require.NoError(w.t, os.RemoveAll(w.Path(path)))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
