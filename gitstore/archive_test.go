package gitstore

import (
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/retention"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A power loss between two refs can leave a checkpoint both live and archived. It counts as live, and
// each later change of it leaves one copy.
func TestLiveAndArchivedCheckpointIsLive(t *testing.T) {
	t.Parallel()
	later := map[string]func(w *world, id checkpoint.ID){
		"archive": func(w *world, id checkpoint.ID) {
			_, err := w.s.Archive(ctx, "42", []checkpoint.ID{id}, retention.ReasonAsked)
			require.NoError(w.t, err)
			assert.Contains(w.t, w.archived(), id)
		},
		"drop": func(w *world, id checkpoint.ID) {
			require.NoError(w.t, w.s.Drop(ctx, "42", []checkpoint.ID{id}))
			assert.NotContains(w.t, w.archived(), id)
		},
	}
	for name, act := range later {
		for _, ref := range []string{LiveRef("42"), ArchiveRef("42")} { // the ref that did not move
			t.Run(name+" "+ref, func(t *testing.T) {
				w := newWorld(t)
				ids := w.manual(3)
				_, err := w.s.Archive(ctx, "42", ids[:1], retention.ReasonAsked)
				require.NoError(t, err)
				before := w.Git("rev-parse", ref)
				if ref == LiveRef("42") {
					_, err = w.s.Archive(ctx, "42", ids[1:2], retention.ReasonAsked)
				} else {
					_, err = w.s.Revert(ctx, "undo", Which{Issue: "42"}, nil)
				}
				require.NoError(t, err)
				w.Git("update-ref", ref, before)
				if ref == LiveRef("42") {
					w.Git("update-ref", repo.OwnRef("42"), before)
				}
				both := ids[1]
				if ref == ArchiveRef("42") {
					both = ids[0]
				}
				assert.Contains(t, w.live(), both)
				assert.NotContains(t, w.archived(), both)
				c, err := w.s.Find(ctx, "42", string(both))
				require.NoError(t, err)
				assert.False(t, c.Archived)
				w.sound()
				act(w, both)
				assert.NotContains(t, w.live(), both)
				w.sound()
			})
		}
	}
}
