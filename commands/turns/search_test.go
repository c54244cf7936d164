package turns

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSearchFindsTheFirstBadState plants a fault in lists of each length, with skipped states, and
// counts the tests.
func TestSearchFindsTheFirstBadState(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 40; n++ {
		for first := 0; first <= n; first++ { // n: no state is bad
			for round := range 4 {
				skip := map[int]bool{}
				for range round {
					skip[r.IntN(n)] = true
				}
				s := &search{results: make([]outcome, n), lastBad: round%2 == 1 && first < n}
				tests, skips := 0, 0
				for picked := s.next(1); picked != nil; picked = s.next(1) {
					require.Len(t, picked, 1)
					i := picked[0]
					require.Equal(t, untested, s.results[i])
					tests++
					switch {
					case skip[i]:
						s.results[i] = skipped
						skips++
					case i >= first:
						s.results[i] = bad
					default:
						s.results[i] = good
					}
				}
				got := s.result()
				most := bits.Len(uint(n)) // ceil(log2(n+1)): n results and "none"
				if s.lastBad {
					most = bits.Len(uint(n - 1)) // ceil(log2(n))
				}
				assert.LessOrEqual(t, tests, most+skips, "%d states, first bad %d, %d skipped", n, first, skips)
				if skips == 0 {
					if first == n {
						assert.Empty(t, got)
					} else {
						assert.Equal(t, []int{first}, got, "%d states", n)
					}
				} else if first < n && len(got) > 0 {
					assert.Contains(t, got, first, "%d states, skipped %v", n, skip)
				}
			}
		}
	}
}

// TestSearchWithSeveralJobs tests states at once.
func TestSearchWithSeveralJobs(t *testing.T) {
	for first := range 31 {
		s := &search{results: make([]outcome, 30)}
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
