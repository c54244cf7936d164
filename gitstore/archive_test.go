package gitstore

import (
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/retention"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every clone reads reason and time of archived checkpoints.
func TestArchiveRecordsReasonAndTime(t *testing.T) {
	gittest.Slow(t)
	a, b, hub, ids := pair(t, 3)
	_, err := a.s.Pin(ctx, "42", ids[1], true)
	require.NoError(t, err)
	a.now = a.now.Add(time.Hour)
	_, err = a.s.Archive(ctx, "42", ids[:1], retention.ReasonFailed)
	require.NoError(t, err)
	failed := Filed{Why: retention.ReasonFailed, At: a.now}
	a.now = a.now.Add(time.Hour)
	_, err = a.s.Archive(ctx, "42", nil, retention.ReasonCompleted)
	require.NoError(t, err)
	completed := Filed{Why: retention.ReasonCompleted, At: a.now}
	meet(t, hub, a, b)
	for _, w := range []*world{a, b} {
		l, err := w.s.Archived(ctx, "42", 0)
		require.NoError(t, err)
		require.Len(t, l.Checkpoints, 3)
		assert.Equal(t, []Filed{completed, completed, failed}, []Filed{l.Checkpoints[0].Filed, l.Checkpoints[1].Filed, l.Checkpoints[2].Filed})
		assert.True(t, l.Checkpoints[1].Pinned)
		w.sound()
	}
	undone, err := a.s.Revert(ctx, "undo", Which{Issue: "42"}, nil)
	require.NoError(t, err)
	assert.Len(t, undone.IDs(), 2)
	l, err := a.s.List(ctx, "42", 0)
	require.NoError(t, err)
	assert.Equal(t, Filed{}, l.Checkpoints[0].Filed)
}

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
