package turns

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSearchWithSeveralJobs tests states at once.
func TestSearchWithSeveralJobs(t *testing.T) {
	for first := range 31 {
		s := chainOf(30)
		rounds := 0
		for picked := s.next(4); picked != nil; picked = s.next(4) {
			rounds++
			for _, i := range picked {
				s.results[i] = good
				if i >= first {
					s.results[i] = bad
				}
			}
		}
		if first == 30 {
			assert.Empty(t, s.result())
		} else {
			assert.Equal(t, []int{first}, s.result())
		}
		assert.LessOrEqual(t, rounds, 4)
	}
}

// chainOf returns a search among states that each came after one other.
func chainOf(n int) *search {
	s := &search{results: make([]outcome, n), before: make([][]int, n), last: n - 1, good: -1}
	for i := 1; i < n; i++ {
		s.before[i] = []int{i - 1}
	}
	return s
}

// TestSearchFindsTheFirstBadStateOfJoinedWork plants a fault in random histories with forks and joins.
// The result is the state that brought it. With one test at a time, the search is near the best one.
func TestSearchFindsTheFirstBadStateOfJoinedWork(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		n := 1 + r.IntN(40)
		s := &search{results: make([]outcome, n), before: make([][]int, n), last: n - 1, good: -1}
		for i := 1; i < n; i++ {
			for range 1 + r.IntN(2) {
				if k := max(0, i-1-r.IntN(4)); !slices.Contains(s.before[i], k) {
					s.before[i] = append(s.before[i], k)
				}
			}
		}
		first := r.IntN(n)
		isBad := make([]bool, n)
		isBad[first] = true
		for i := first + 1; i < n; i++ {
			isBad[i] = slices.ContainsFunc(s.before[i], func(k int) bool { return isBad[k] })
		}
		jobs, tests := 1+r.IntN(3), 0
		for picked := s.next(jobs); picked != nil; picked = s.next(jobs) {
			require.LessOrEqual(t, len(picked), jobs)
			for _, i := range picked {
				tests++
				s.results[i] = good
				if isBad[i] {
					s.results[i] = bad
				}
			}
		}
		if isBad[n-1] {
			require.Equal(t, []int{first}, s.result())
		} else {
			require.Empty(t, s.result())
		}
		if jobs == 1 {
			assert.LessOrEqual(t, tests, 2*bits.Len(uint(n))+1)
		}
	}
}
