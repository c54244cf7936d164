package web

import (
	"context"
	"testing"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"

	"github.com/stretchr/testify/require"
)

// The page judges the checkpoint to which a person went back, with the facts about it, and names
// other authors.
func TestIssuePageGoesOnFromTheRestoredCheckpoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	saved := w.work()
	open := w.o.Open
	w.site.o.Open = func(ctx context.Context) (*Repository, error) {
		repo, err := open(ctx)
		if err == nil {
			repo.Beside = func(s *view.Standing) {
				s.Parallel = []gitstore.NotHere{{Checkpoint: *s.Checkpoint, Files: []string{"a"}}}
			}
		}
		return repo, err
	}
	has(t, w.get("/i/42"), "git checkpoint restore 42 "+saved[2].ID.Short())
	lacks(t, w.get("/i/42"), ">by ")

	repo, err := open(t.Context())
	require.NoError(t, err)
	defer repo.Close()
	_, err = repo.Restore(t.Context(), gitstore.RestoreRequest{
		Checkpoint: &saved[1].Checkpoint, Request: gitstore.RestoreOptions{Asked: true, Force: true},
	})
	require.NoError(t, err)
	has(t, w.get("/i/42"), "git checkpoint restore 42 "+saved[1].ID.Short())

	w.git("config", "user.name", "Coll")
	has(t, w.get("/i/42"), ">by Ann Author<")
}
