package progress

import (
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// A Transition is a way that the work may go from one phase to another; "*"
// stands for any.
type Transition struct{ From, To string }

// ParseTransition reads two phases, with a blank or an arrow between them.
func ParseTransition(s string) (Transition, error) {
	words := strings.Fields(strings.Replace(s, "->", " ", 1))
	if len(words) != 2 {
		return Transition{}, fmt.Errorf("%q: want FROM TO", s)
	}
	return Transition{words[0], words[1]}, nil
}

// Transitions are all the ways there are; none of them means every way.
type Transitions []Transition

// Allow reports whether the work may go from one phase to another. What no
// transition speaks of is bound by none.
func (t Transitions) Allow(from, to string) bool {
	known := slices.ContainsFunc(t, func(w Transition) bool { return from != "" && (w.From == from || w.To == from) })
	return !known || from == to || slices.ContainsFunc(t, func(w Transition) bool { return w.leads(from) && (w.To == to || w.To == "*") })
}

func (t Transition) leads(from string) bool { return t.From == from || t.From == "*" }

// next are the phases that the work may go to from one.
func (t Transitions) next(from string) []string {
	var phases []string
	for _, w := range t {
		if w.leads(from) && w.To != "*" && w.To != from && !slices.Contains(phases, w.To) {
			phases = append(phases, w.To)
		}
	}
	return phases
}

// leap refuses a step to a phase that no way leads to from where the work is,
// nil for one that is allowed.
func (s Step) leap(r *checkpoint.Record, verb string) error {
	from := r.Phase()
	if s.Force || s.Ways.Allow(from, s.Phase) {
		return nil
	}
	e := &RefusedError{Issue: r.Issue(), Reason: fmt.Sprintf("the work does not go from phase %s to phase %s", from, s.Phase)}
	next := s.Ways.next(from)
	if len(next) > 0 {
		e.Reason += ", but to " + strings.Join(next, ", ")
	}
	for _, phase := range next[:min(len(next), 3)] {
		e.Instead = append(e.Instead, Way{"phase", "start", phase})
	}
	e.Instead = append(e.Instead, Way{"phase", verb, s.Phase, "--force"})
	return e
}
