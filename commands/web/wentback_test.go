package web

import (
	"context"
	"testing"

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
			repo.Beside = func(c *gitstore.Checkpoint) []Fact { return []Fact{{Name: "Went back", Text: "to " + string(c.ID)}} }
		}
		return repo, err
	}
	has(t, w.get("/i/42"), "to "+string(saved[2].ID))
	lacks(t, w.get("/i/42"), ">by ")

	repo, err := open(t.Context())
	require.NoError(t, err)
	defer repo.Close()
	_, err = repo.Restore(t.Context(), gitstore.RestoreRequest{
		Checkpoint: &saved[1].Checkpoint, Request: gitstore.RestoreOptions{Asked: true, Force: true},
	})
	require.NoError(t, err)
	has(t, w.get("/i/42"), "to "+string(saved[1].ID))

	w.git("config", "user.name", "Coll")
	has(t, w.get("/i/42"), ">by Ann Author<")
}
