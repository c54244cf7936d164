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

// A search looks for the first bad state of a list, oldest first. If a state is bad, all later
// ones are assumed to be bad.
type search struct {
	results []outcome
	lastBad bool // the last state is known to be bad without a test
}

// bounds returns the part of the list that has the first bad state: the states after the newest
// good one, up to the oldest bad one. end is the number of states if none is known to be bad.
func (s *search) bounds() (begin, end int) {
	end = len(s.results)
	if s.lastBad {
		end--
	}
	for i, r := range s.results {
		if r == bad {
			end = min(end, i)
		}
	}
	for i, r := range s.results[:end] {
		if r == good {
			begin = i + 1
		}
	}
	return begin, end
}

// next returns up to n states to test, which divide the untested ones evenly. It returns none if
// the search has ended. With one state at a time, a search takes at most ceil(log2(states+1))
// tests and one more for each skipped state.
func (s *search) next(n int) (picked []int) {
	begin, end := s.bounds()
	var open []int
	for i := begin; i < end; i++ {
		if s.results[i] == untested {
			open = append(open, i)
		}
	}
	for k := 1; k <= n && len(open) > 0; k++ {
		if at := open[len(open)*k/(n+1)]; !slices.Contains(picked, at) {
			picked = append(picked, at)
		}
	}
	return picked
}

// result returns the states that may be the first bad one: none if no state is bad, one if it is
// found, several if skipped states hide it.
func (s *search) result() []int {
	begin, end := s.bounds()
	var list []int
	for i := begin; i < end; i++ {
		list = append(list, i)
	}
	if end < len(s.results) {
		list = append(list, end)
	}
	return list
}
