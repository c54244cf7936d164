package gitstore

import (
	"context"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/require"
)

// A world is a repository with one commit, a store, and a clock that advances one second
// per save.
type world struct {
	*gittest.Repo
	t   testing.TB
	s   *Store
	now time.Time
}

var ctx = context.Background()

// newWorld creates a world; setup runs before the store opens.
func newWorld(t testing.TB, setup ...func(*gittest.Repo)) *world {
	t.Helper()
	r := gittest.Seed.New(t)
	for _, f := range setup {
		f(r)
	}
	return worldIn(t, r, r.Dir)
}

// worldIn opens a store at dir with the environment of r.
func worldIn(t testing.TB, r *gittest.Repo, dir string) *world {
	t.Helper()
	w := &world{Repo: r.In(dir), t: t, now: gittest.Epoch.Add(24 * time.Hour)}
	w.s = w.open(dir)
	return w
}

func (w *world) open(dir string) *Store {
	w.t.Helper()
	s, err := Open(ctx, Options{Dir: dir, Now: func() time.Time { return w.now }})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { s.Close() })
	return s
}

// request returns a save request for issue 42; fields change its record.
func (w *world) request(trigger checkpoint.Trigger, fields ...func(*checkpoint.Record)) SaveRequest {
	return SaveRequest{Issue: "42", Edit: func(before *checkpoint.Record) (*checkpoint.Record, error) {
		r := before
		if r == nil {
			r = checkpoint.New()
		}
		r.SetTrigger(trigger)
		r.SetPhase("implementing")
		for _, f := range fields {
			f(r)
		}
		return r, nil
	}}
}

func (w *world) save(req SaveRequest) *Saved {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	saved, err := w.s.Save(ctx, req)
	require.NoError(w.t, err)
	return saved
}

// manual saves n checkpoints and returns their ids, oldest first.
func (w *world) manual(n int) []checkpoint.ID {
	w.t.Helper()
	var ids []checkpoint.ID
	for range n {
		ids = append(ids, w.save(w.request(checkpoint.Manual)).ID)
	}
	return ids
}

// thinned saves with a retention policy.
func (w *world) thinned(trigger checkpoint.Trigger, p retention.Policy) *Saved {
	w.t.Helper()
	req := w.request(trigger)
	req.Retention = p
	return w.save(req)
}

// live returns the ids in the chain, oldest first.
func (w *world) live() []checkpoint.ID {
	w.t.Helper()
	l, err := w.s.List(ctx, "42", 0)
	require.NoError(w.t, err)
	return oldestFirst(l)
}

func (w *world) archived() []checkpoint.ID {
	w.t.Helper()
	l, err := w.s.Archived(ctx, "42", 0)
	require.NoError(w.t, err)
	return oldestFirst(l)
}

func oldestFirst(l *List) []checkpoint.ID {
	ids := []checkpoint.ID{}
	for i := len(l.Checkpoints) - 1; i >= 0; i-- {
		ids = append(ids, l.Checkpoints[i].ID)
	}
	return ids
}

// sound fails if Verify or git fsck reports an error.
func (w *world) sound() {
	w.t.Helper()
	report, err := w.s.Verify(ctx, "42")
	require.NoError(w.t, err)
	require.Empty(w.t, report.Errors)
	out, err := w.Run(nil, "fsck", "--strict", "--no-dangling", "--no-progress")
	require.NoError(w.t, err)
	require.Empty(w.t, string(out))
}

// captured saves with worktree and untracked files.
func (w *world) captured(fields ...func(*SaveRequest)) *Saved {
	w.t.Helper()
	req := w.request(checkpoint.Manual)
	for _, f := range fields {
		f(&req)
	}
	saved := w.save(req)
	w.sound()
	return saved
}

func (w *world) has(saved *Saved, dir string) bool {
	_, err := w.Run(nil, "rev-parse", "--verify", "-q", saved.Commit.String()+":"+dir)
	return err == nil
}
