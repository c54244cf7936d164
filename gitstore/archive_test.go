package gitstore

import (
	"testing"
	"time"

	"git-checkpoint/gitstore/retention"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every clone reads reason and time of archived checkpoints.
func TestArchiveRecordsReasonAndTime(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: not in short mode")
	}
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
