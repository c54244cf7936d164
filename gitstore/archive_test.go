package gitstore

import (
	"testing"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/retention"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A power loss between two refs can leave a checkpoint both live and archived. The next
// change or repair of its issue removes one copy.
func TestLiveAndArchivedCheckpointIsRepaired(t *testing.T) {
	t.Parallel()
	heal := map[string]func(w *world, ids []checkpoint.ID){
		"archive": func(w *world, ids []checkpoint.ID) {
			_, err := w.s.Archive(ctx, "42", ids[2:3], retention.ReasonAsked)
			require.NoError(w.t, err)
		},
		"drop":   func(w *world, ids []checkpoint.ID) { require.NoError(w.t, w.s.Drop(ctx, "42", ids[2:3])) },
		"repair": func(w *world, _ []checkpoint.ID) { require.NoError(w.t, w.s.chain.ClearArchive(ctx, "42")) },
	}
	for name, act := range heal {
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
				report, err := w.s.Verify(ctx, "42")
				require.NoError(t, err)
				require.NotEmpty(t, report.Errors)
				act(w, ids)
				assert.Contains(t, w.live(), ids[1])
				assert.Equal(t, ref == ArchiveRef("42"), len(w.live()) > 0 && w.live()[0] == ids[0])
				w.sound()
			})
		}
	}
}
