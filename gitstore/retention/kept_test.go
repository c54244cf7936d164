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

// ends returns session_end checkpoints on these branches, newest first.
func ends(branches ...string) []Item {
	items := make([]Item, len(branches))
	for i, branch := range branches {
		items[i] = Item{ID: checkpoint.ID(rune('a' + i)), Trigger: checkpoint.SessionEnd, Branch: branch, Valid: true, Resumable: true}
	}
	return items
}

func letters(ds []Decision) string {
	text := ""
	for _, d := range ds {
		text += map[bool]string{true: "K", false: "d"}[d.Keep]
	}
	return text
}

func TestSaveKeepsOtherBranches(t *testing.T) {
	none := Default().With(checkpoint.SessionEnd, 0)
	assert.Equal(t, "KKdd", letters(Plan(Default(), ends("x", "y", "x", "y"))))
	assert.Equal(t, "KKdK", letters(PlanSave(Default(), ends("x", "y", "x", "y"))))
	assert.Equal(t, "Kddd", letters(Plan(none, ends("x", "y", "x", "y"))))
	assert.Equal(t, "KKdK", letters(PlanSave(none, ends("x", "y", "x", "y"))))
	assert.Equal(t, "Kdd", letters(PlanSave(Default(), ends("x", "x", "x"))))
}

func TestKeepWork(t *testing.T) {
	for name, c := range map[string]struct {
		branches []string
		lacks    []int // number of files that each checkpoint lacks, newest first
		keep     int
		want     string
	}{
		"all are whole":                {[]string{"x", "x", "x"}, []int{0, 0, 0}, 1, "Kdd"},
		"a poorer one on top":          {[]string{"x", "x", "x"}, []int{1, 0, 0}, 1, "KKd"},
		"several poorer ones":          {[]string{"x", "x", "x", "x"}, []int{1, 1, 1, 0}, 1, "KddK"},
		"ever poorer":                  {[]string{"x", "x", "x"}, []int{2, 1, 0}, 1, "KKK"},
		"a whole one again":            {[]string{"x", "x", "x"}, []int{0, 1, 0}, 1, "Kdd"},
		"a whole one of another":       {[]string{"y", "x", "x"}, []int{0, 1, 0}, 1, "KKK"},
		"none of them is to be kept":   {[]string{"x", "x"}, []int{1, 0}, 0, "Kd"},
		"a whole one among those kept": {[]string{"x", "x", "x"}, []int{1, 0, 0}, 2, "KKd"},
	} {
		t.Run(name, func(t *testing.T) {
			p, items := Default().With(checkpoint.SessionEnd, c.keep), ends(c.branches...)
			covers := func(newer, older int) bool { return c.lacks[newer] <= c.lacks[older] }
			assert.Equal(t, c.want, letters(KeepWork(p, items, Plan(p, items), covers)))
		})
	}
}
