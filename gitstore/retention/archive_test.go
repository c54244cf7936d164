package retention

import (
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
)

func TestExpired(t *testing.T) {
	days := func(n int, more ...time.Duration) time.Time {
		at := noon.AddDate(0, 0, -n)
		for _, d := range more {
			at = at.Add(-d)
		}
		return at
	}
	standard := Stay{Completed: 7, Other: 30}
	for name, c := range map[string]struct {
		stay Stay
		in   Archived
		gone bool
	}{
		"completed, a week":            {standard, Archived{Why: ReasonCompleted, At: days(7)}, false},
		"completed, more":              {standard, Archived{Why: ReasonCompleted, At: days(7, time.Second)}, true},
		"failed, more than a week":     {standard, Archived{Why: ReasonFailed, At: days(8)}, false},
		"failed, thirty days":          {standard, Archived{Why: ReasonFailed, At: days(30)}, false},
		"failed, more":                 {standard, Archived{Why: ReasonFailed, At: days(31)}, true},
		"abandoned":                    {standard, Archived{Why: ReasonAbandoned, At: days(31)}, true},
		"aged":                         {standard, Archived{Why: ReasonAged, At: days(31)}, true},
		"by hand":                      {standard, Archived{Why: ReasonAsked, At: days(31)}, true},
		"pinned":                       {standard, Archived{Why: ReasonFailed, At: days(31), Pinned: true}, false},
		"nobody knows when":            {standard, Archived{}, false},
		"in the future":                {standard, Archived{Why: ReasonCompleted, At: days(-400)}, false},
		"for ever":                     {Stay{Completed: -1, Other: 30}, Archived{Why: ReasonCompleted, At: days(4000)}, false},
		"others for ever":              {Stay{Completed: 7, Other: -1}, Archived{Why: ReasonFailed, At: days(4000)}, false},
		"at once":                      {Stay{Completed: 0, Other: 30}, Archived{Why: ReasonCompleted, At: days(0)}, true},
		"at once, in the future":       {Stay{Completed: 0, Other: 30}, Archived{Why: ReasonCompleted, At: days(-1)}, false},
		"at once, others":              {Stay{Completed: 0, Other: 30}, Archived{Why: ReasonFailed, At: days(0)}, false},
		"one of the last, however old": {Stay{Completed: 7, Other: 30, Last: 5}, Archived{Why: ReasonFailed, At: days(4000)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c.in.ID = "x-1"
			got := c.stay.Expired([]Archived{c.in}, noon)
			assert.Equal(t, c.gone, len(got) == 1)
			for _, d := range got {
				assert.False(t, d.Keep)
				assert.NotEmpty(t, d.Rule)
			}
		})
	}
}

// Stay.Last counts checkpoints that were archived together as one archiving.
func TestExpiredKeepsTheLast(t *testing.T) {
	var in []Archived
	for k, id := range []checkpoint.ID{"a-1", "a-2", "b-1", "c-1", "c-2", "c-3", "d-1"} {
		day := map[byte]int{'a': 1, 'b': 2, 'c': 3, 'd': 4}[id[0]]
		in = append(in, Archived{ID: id, Why: ReasonCompleted, At: noon.AddDate(0, 0, -day), Pinned: k == 4})
	}
	got := Stay{Completed: 7, Other: 30, Last: 2}.Expired(in, noon)
	var ids []checkpoint.ID
	for _, d := range got {
		ids = append(ids, d.ID)
	}
	assert.Equal(t, []checkpoint.ID{"c-1", "c-3", "d-1"}, ids)
	assert.Equal(t, "archived as completed: number 3 of the newest 2 archives kept", got[0].Rule)
}
