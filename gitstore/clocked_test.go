package gitstore

import (
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
)

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
