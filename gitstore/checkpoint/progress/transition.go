package progress

import (
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// A Transition permits a move from phase From to phase To; "*" matches any phase.
type Transition struct{ From, To string }

// ParseTransition parses two phases, separated by a space or "->".
func ParseTransition(s string) (Transition, error) {
	words := strings.Fields(strings.Replace(s, "->", " ", 1))
	if len(words) != 2 {
		return Transition{}, fmt.Errorf("%q: want FROM TO", s)
	}
	return Transition{words[0], words[1]}, nil
}

// Transitions lists all permitted transitions. An empty list permits everything.
type Transitions []Transition

// Allow reports whether a move between two phases is permitted. If from appears in no
// transition, every move is permitted.
func (t Transitions) Allow(from, to string) bool {
	known := slices.ContainsFunc(t, func(w Transition) bool { return from != "" && (w.From == from || w.To == from) })
	return !known || from == to || slices.ContainsFunc(t, func(w Transition) bool { return w.leads(from) && (w.To == to || w.To == "*") })
}

func (t Transition) leads(from string) bool { return t.From == from || t.From == "*" }

// next returns the permitted phases after from.
func (t Transitions) next(from string) []string {
	var phases []string
	for _, w := range t {
		if w.leads(from) && w.To != "*" && w.To != from && !slices.Contains(phases, w.To) {
			phases = append(phases, w.To)
		}
	}
	return phases
}

// leap returns a *RefusedError if no transition leads to the phase of s, nil if the move
// is permitted.
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
