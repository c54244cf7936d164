package turns

import "slices"

// An outcome is the result of the command at one state.
type outcome int

const (
	untested outcome = iota
	good             // the command succeeds
	bad              // it fails
	skipped          // it cannot be tested
)

// A search looks for the first bad state of a history, as git bisect does. All descendants of a bad
// state are assumed to be bad, and all ancestors of a good state to be good.
type search struct {
	before  [][]int // parents of each state, with smaller indexes
	results []outcome
	last    int  // newest state of the search
	lastBad bool // last is bad, without a test
	good    int  // index of a good state that needs no test, or -1
}

// reach returns which states are among the given ones and their ancestors.
func (s *search) reach(from ...int) []bool {
	in := make([]bool, len(s.before))
	for _, i := range from {
		in[i] = true
	}
	for i := len(in) - 1; i >= 0; i-- {
		for _, k := range s.before[i] {
			in[k] = in[k] || in[i]
		}
	}
	return in
}

// part returns the states that can be the first bad state, oldest first: the state end and its ancestors,
// without ancestors of a good state. The state end is the oldest bad state, or last.
func (s *search) part() (list []int, end int, isBad bool) {
	var tested []int
	for i, r := range s.results {
		if r == good {
			tested = append(tested, i)
		}
	}
	if s.good >= 0 {
		tested = append(tested, s.good)
	}
	isGood := s.reach(tested...)
	pick := func(end int) (list []int) {
		for i, in := range s.reach(end) {
			if in && !isGood[i] {
				list = append(list, i)
			}
		}
		return list
	}
	list, end, isBad = pick(s.last), s.last, s.lastBad
	for _, i := range list {
		if s.results[i] != bad {
			continue
		}
		if more := pick(i); !isBad || len(more) < len(list) {
			list, end, isBad = more, i, true
		}
	}
	return list, end, isBad
}

// next returns up to n states to test, which divide the untested ones evenly. It returns none if
// the search has ended. If each state came after one other, and one is tested at a time, a search takes
// at most ceil(log2(states+1)) tests and one more for each skipped state.
func (s *search) next(n int) (picked []int) {
	list, end, isBad := s.part()
	var open []int
	isOpen := make([]bool, len(s.before))
	for _, i := range list {
		if isOpen[i] = s.results[i] == untested && (i != end || !isBad); isOpen[i] {
			open = append(open, i)
		}
	}
	// The weight of a state is the number of open states that its test decides if it is good.
	weight := make([]int, len(open))
	for k, i := range open {
		for j, in := range s.reach(i) {
			if in && isOpen[j] {
				weight[k]++
			}
		}
	}
	for k := 1; k <= n && len(open) > 0; k++ {
		want, best := len(open)*k/(n+1)+1, 0
		for j := range open {
			if abs(weight[j]-want) < abs(weight[best]-want) {
				best = j
			}
		}
		if !slices.Contains(picked, open[best]) {
			picked = append(picked, open[best])
		}
	}
	return picked
}

func abs(n int) int { return max(n, -n) }

// result returns the states that may be the first bad one: none if no state is bad, one if it is
// found, several if skipped states hide it.
func (s *search) result() []int {
	if list, _, isBad := s.part(); isBad {
		return list
	}
	return nil
}
