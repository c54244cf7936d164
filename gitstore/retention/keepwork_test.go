package retention

import (
	"testing"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
)

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
	assert.Equal(t, "KKdd", letters(Plan(Default(), ends("x", "y", "x", "y"), noon)))
	assert.Equal(t, "KKdK", letters(PlanSave(Default(), ends("x", "y", "x", "y"), noon)))
	assert.Equal(t, "Kddd", letters(Plan(none, ends("x", "y", "x", "y"), noon)))
	assert.Equal(t, "KKdK", letters(PlanSave(none, ends("x", "y", "x", "y"), noon)))
	assert.Equal(t, "Kdd", letters(PlanSave(Default(), ends("x", "x", "x"), noon)))
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
			assert.Equal(t, c.want, letters(KeepWork(p, items, Plan(p, items, noon), covers)))
		})
	}
}
