package gitstore

import (
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
)

// Clocks go up, whatever the machine's date does; the chain's order is the
// order of the saves.
func TestClocksGoUp(t *testing.T) {
	w := newWorld(t)
	start := w.now
	var ids []checkpoint.ID
	var last checkpoint.Clock
	for _, shift := range []time.Duration{0, -time.Hour, time.Hour, 0, 23 * time.Hour, 0, -365 * 24 * time.Hour} {
		w.now = start.Add(shift)
		saved := w.save(w.request(checkpoint.Manual))
		if !last.Ahead(w.now) {
			assert.Greater(t, saved.Clock, last, "%v", shift)
		}
		last = saved.Clock
		assert.True(t, saved.Record.CreatedAt().Equal(w.now), "created_at is the machine's date")
		ids = append(ids, saved.ID)
	}
	assert.Equal(t, ids, w.live())
	w.sound()
}

// A date a day or more ahead is not followed: one wrong machine must not drag
// the others along. What it saved stays where it is in the chain.
func TestFarFutureIsNotFollowed(t *testing.T) {
	w := newWorld(t)
	start := w.now
	first := w.save(w.request(checkpoint.Manual))
	w.now = start.Add(50 * 365 * 24 * time.Hour)
	far := w.save(w.request(checkpoint.Manual))
	w.now = start
	now := w.save(w.request(checkpoint.Manual))
	assert.Less(t, now.Clock, far.Clock)
	assert.Equal(t, checkpoint.Clock(w.now.UnixNano()), now.Clock)
	assert.Equal(t, []checkpoint.ID{first.ID, far.ID, now.ID}, w.live())
	assert.NoError(t, w.s.Drop(ctx, "42", []checkpoint.ID{first.ID}))
	assert.Equal(t, []checkpoint.ID{far.ID, now.ID}, w.live(), "the chain's own order stands")
	w.sound()
}

// Two saves within a microsecond, and with the same date, differ.
func TestSameInstant(t *testing.T) {
	w := newWorld(t)
	one := w.save(w.request(checkpoint.Manual))
	w.now = w.now.Add(-time.Second)
	two := w.save(w.request(checkpoint.Manual))
	assert.NotEqual(t, one.ID, two.ID)
	assert.Equal(t, one.Clock+1, two.Clock)
}
