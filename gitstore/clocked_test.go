package gitstore

import (
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"

	"github.com/stretchr/testify/assert"
)

// A save on top of a checkpoint from the future gets a later clock, but keeps the system
// date.
func TestSaveOnTopOfAFutureClockSortsAfterIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	start := w.now
	first := w.save(w.request(checkpoint.Manual))
	w.now = start.Add(50 * 365 * 24 * time.Hour)
	far := w.save(w.request(checkpoint.Manual))
	w.now = start
	now := w.save(w.request(checkpoint.Manual))
	assert.Equal(t, far.Stated+1, now.Stated)
	assert.True(t, now.Record.CreatedAt().Equal(w.now))
	assert.Equal(t, []checkpoint.ID{first.ID, far.ID, now.ID}, w.live())
	assert.NoError(t, w.s.Drop(ctx, "42", []checkpoint.ID{first.ID}))
	assert.Equal(t, []checkpoint.ID{far.ID, now.ID}, w.live())
	w.sound()
}

// Clocks stay valid and increasing even if nanoseconds cannot represent the system date.
func TestSaveAtAnyDateHasAClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []checkpoint.ID
	var last checkpoint.Clock = -1 // the clock that counts
	for _, year := range []int{2026, 9999, 9998, 2262, 2026, 1971} {
		w.now = time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)
		saved := w.save(w.request(checkpoint.Manual))
		assert.Greater(t, saved.Stated, last, "%d", year)
		last = saved.Clock
		ids = append(ids, saved.ID)
	}
	assert.Equal(t, ids, w.live())
	w.sound()
}

// Archival times use the system date, not Checkpoint-Clock, because retention depends on
// them.
func TestArchiveIsFiledAtTheMachinesDate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	start := w.now
	w.now = start.Add(8 * 24 * time.Hour)
	w.manual(1)
	w.now = start
	id := w.manual(1)[0]
	_, err := w.s.Archive(ctx, "42", []checkpoint.ID{id}, retention.ReasonAsked)
	assert.NoError(t, err)
	l, err := w.s.Archived(ctx, "42", 0)
	assert.NoError(t, err)
	assert.True(t, l.Checkpoints[0].Filed.At.Equal(w.now), "%v", l.Checkpoints[0].Filed.At)
}
