package retention

import (
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
)

func TestDoubt(t *testing.T) {
	ago := func(days int) time.Time { return noon.AddDate(0, 0, -days) }
	clock := func(days int) checkpoint.Clock { return checkpoint.ClockAt(ago(days)) }
	for name, c := range map[string]struct {
		in   Times
		want string
	}{
		"archived after the save":       {Times{Created: ago(50), Clock: clock(50), Base: ago(51), Archived: ago(40), Newest: ago(1)}, ""},
		"nothing known":                 {Times{}, ""},
		"only the time of the archive":  {Times{Archived: ago(40)}, ""},
		"within the tolerance":          {Times{Created: ago(40).Add(Tolerance), Archived: ago(40), Newest: ago(1)}, ""},
		"archived before the save":      {Times{Created: ago(39), Archived: ago(40)}, "it was archived 24 hours before it was saved: a clock was wrong"},
		"archived before its commit":    {Times{Created: ago(2500), Base: ago(10), Archived: ago(2500)}, "it was archived 2490 days before its commit was made: a clock was wrong"},
		"archived before its ancestor":  {Times{Created: ago(2500), Clock: clock(9), Archived: ago(2500)}, "it was archived 2491 days before an older checkpoint was saved: a clock was wrong"},
		"an inherited clock of 2040":    {Times{Created: ago(50), Clock: clock(-5000), Archived: ago(40), Newest: ago(1)}, ""},
		"saved before its ancestor":     {Times{Created: ago(50), Clock: clock(40), Newest: ago(1)}, "it was saved 10 days before an older checkpoint was saved: a clock was wrong"},
		"this clock is years ahead":     {Times{Created: ago(4801), Archived: ago(4800), Newest: ago(4802)}, "the clock of this machine is 4800 days ahead of the newest commit: it may be wrong"},
		"an old archive, a new commit":  {Times{Created: ago(4801), Archived: ago(4800), Newest: ago(300)}, ""},
		"a commit from the future":      {Times{Created: ago(801), Archived: ago(800), Newest: ago(-800)}, "the clock of this machine is 800 days ahead of the newest commit: it may be wrong"},
		"a chain in a dormant project":  {Times{Created: ago(400), Clock: clock(400), Newest: ago(401)}, "the clock of this machine is 400 days ahead of the newest commit: it may be wrong"},
		"a chain in an active project":  {Times{Created: ago(400), Clock: clock(400), Newest: ago(3)}, ""},
		"a day more than a year is one": {Times{Created: ago(366), Newest: ago(366)}, "the clock of this machine is 366 days ahead of the newest commit: it may be wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			c.in.Now = noon
			assert.Equal(t, c.want, c.in.Doubt())
		})
	}
}

// A doubt keeps a checkpoint only if an age decides.
func TestExpiredKeepsIfTheAgeIsInDoubt(t *testing.T) {
	a := Archived{ID: "x-1", Why: ReasonCompleted, At: noon.AddDate(0, 0, -40), Times: Times{Created: noon}}
	got := Stay{Completed: 7}.Expired([]Archived{a}, noon)
	assert.True(t, len(got) == 1 && got[0].Keep && got[0].Doubt != "", got)
	got = Stay{Completed: 0}.Expired([]Archived{a}, noon)
	assert.True(t, len(got) == 1 && !got[0].Keep, got)
	assert.Empty(t, Stay{Completed: 50}.Expired([]Archived{a}, noon))
}
