package standing

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNumbersListsSequencesAsRanges(t *testing.T) {
	var many []int
	for i := range 115 {
		many = append(many, i+1)
	}
	for _, c := range []struct {
		n    []int
		want string
	}{
		{nil, ""},
		{[]int{4}, "4"},
		{[]int{1, 2}, "1, 2"},
		{[]int{1, 2, 3}, "1-3"},
		{many, "1-115"},
		{[]int{9, 3, 1, 2, 7, 8, 5}, "1-3, 5, 7-9"},
		{[]int{2, 2, 3}, "2, 3"},
	} {
		before := slices.Clone(c.n)
		assert.Equal(t, c.want, numbers(c.n))
		assert.Equal(t, before, c.n)
	}
}

func TestSpentTextUsesTheTwoLargestUnits(t *testing.T) {
	for minutes, want := range map[int]string{
		0: "0 min", 59: "59 min", 60: "1 h", 61: "1 h 1 min", 1439: "23 h 59 min", 1440: "1 d",
		1470: "1 d", 3200: "2 d 5 h",
	} {
		assert.Equal(t, want, spentText(minutes), minutes)
	}
}
