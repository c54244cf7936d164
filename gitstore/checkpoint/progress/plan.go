package progress

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/document"
	"git-checkpoint/gitstore/failure"
)

// Resolve returns the phase for a typed name or number. An empty text means the current
// phase.
func Resolve(r *checkpoint.Record, typed string) (string, error) {
	p := r.Progress()
	next := PointOf(r).Phase
	phase, err := next, error(nil)
	if typed != "" {
		phase, err = phaseNamed(p, typed)
	} else if next == "" {
		err = errors.New("no phase given (no phase is left)")
	}
	if err == nil {
		return phase, nil
	}
	unknown := &RefusedError{Code: failure.Usage, Issue: r.Issue(), Reason: err.Error(), Instead: []Way{{"phase", "next"}}}
	switch {
	case next == "" && p.Total == 0:
		unknown.Instead = []Way{{"start"}}
	case next == "":
		unknown.Instead = []Way{{"finish"}}
	}
	return "", unknown
}

// Complete reports whether the workflow has phases and all phases are over.
func Complete(r *checkpoint.Record) bool {
	p := r.Progress()
	return p.Total > 0 && len(p.Remaining) == 0
}

// IsOver reports whether a phase is completed or skipped. An unknown phase is not over.
func IsOver(r *checkpoint.Record, typed string) bool {
	p := r.Progress()
	phase, err := phaseNamed(p, typed)
	return p.Over(typed) || err == nil && p.Over(phase)
}

// Ahead returns the unfinished phases before a phase.
func Ahead(r *checkpoint.Record, phase string) []string {
	p := r.Progress()
	at, ok := Place(p.Names, phase)
	if !ok {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Remaining), func(other string) bool {
		n, ok := Place(p.Names, other)
		return !ok || n >= at
	})
}

// MaxPhases limits the phases of a workflow.
const MaxPhases = 1000

// maxPhaseName limits the bytes of a phase name.
const maxPhaseName = 200

// ParseNames parses comma-separated phase names.
func ParseNames(s string) ([]string, error) {
	var names []string
	for name := range strings.SplitSeq(s, ",") {
		switch name = strings.TrimSpace(name); {
		case name == "":
			return nil, fmt.Errorf("%.80q: a name is empty", s)
		case len(name) > maxPhaseName:
			return nil, fmt.Errorf("%.40q...: longer than %d bytes", name, maxPhaseName)
		case strings.ContainsFunc(name, unicode.IsControl):
			return nil, fmt.Errorf("%.40q: not on one line, or with a control character", name)
		case slices.Contains(names, name):
			return nil, fmt.Errorf("%.40q is a duplicate", name)
		}
		names = append(names, name)
	}
	if len(names) > MaxPhases {
		return nil, fmt.Errorf("%d names, want at most %d", len(names), MaxPhases)
	}
	return names, nil
}

// PlannedPhases returns the number of phases in a Markdown plan: the largest N of its
// headings "Phase N", 0 if no such heading exists. Fenced code blocks are ignored.
func PlannedPhases(plan string) int {
	total := 0
	eachPhase(plan, func(n int, _ string) { total = max(total, n) })
	return total
}

// PlanTitles returns the titles of the phases in a Markdown plan, by number: the text of the
// heading "Phase N: title".
func PlanTitles(plan string) map[string]string {
	titles := map[string]string{}
	eachPhase(plan, func(n int, title string) {
		if number := strconv.Itoa(n); titles[number] == "" {
			titles[number] = title
		}
	})
	return titles
}

// phaseHeading matches a heading like "## Phase 2: build".
var phaseHeading = document.Pattern(`(?i)^#{1,6} [ *\[\]x✓]*phase ([0-9]+)(.*)$`)

// eachPhase calls f with number and title of each heading of a phase in a Markdown plan.
func eachPhase(plan string, f func(n int, title string)) {
	fence := ""
	for line := range strings.Lines(plan) {
		line = strings.TrimSpace(line)
		switch at := line[:min(len(line), 3)]; {
		case at != "```" && at != "~~~":
		case fence == "":
			fence = at
		case at == fence:
			fence = ""
		}
		if m := phaseHeading().FindStringSubmatch(line); m != nil && fence == "" {
			if n, _ := strconv.Atoi(m[1]); n > 0 && n <= MaxPhases {
				f(n, strings.Trim(m[2], " :.-*#"))
			}
		}
	}
}

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

// allow reports whether a move between two phases is permitted. If from appears in no
// transition, every move is permitted.
func (t Transitions) allow(from, to string) bool {
	known := slices.ContainsFunc(t, func(w Transition) bool { return from != "" && (w.From == from || w.To == from) })
	return !known || from == to || slices.ContainsFunc(t, func(w Transition) bool { return w.leads(from) && (w.To == to || w.To == "*") })
}

// phaseNamed returns the phase for a name, or for a number if phases have names.
func phaseNamed(p checkpoint.Progress, typed string) (string, error) {
	if !slices.Contains(p.Names, typed) {
		typed = plainNumber(typed)
	}
	n, err := strconv.Atoi(strings.TrimPrefix(typed, "phase_"))
	isNumber := err == nil
	switch {
	case typed == "" || len(typed) > maxPhaseName:
		return "", fmt.Errorf("phase %.40q: the workflow has %s", typed, phases(p))
	case slices.Contains(p.Names, typed):
		return typed, nil
	case len(p.Names) > 0 && isNumber && n >= 1 && n <= len(p.Names):
		return p.Names[n-1], nil
	case len(p.Names) > 0, p.Total > 0 && isNumber && (n < 1 || n > p.Total), p.Total > 0 && !isNumber && !isBetween(typed, p.Total):
		return "", fmt.Errorf("phase %s: the workflow has %s", typed, phases(p))
	case isNumber:
		return strconv.Itoa(n), nil
	}
	return typed, nil
}

// plainNumber removes insignificant zeros from a number: 1.0 and 01 become 1, and 4.50
// becomes 4.5. Other texts are returned unchanged.
func plainNumber(s string) string {
	whole, part, _ := strings.Cut(strings.TrimPrefix(s, "phase_"), ".")
	if whole == "" || strings.Trim(whole+part, "0123456789") != "" {
		return s
	}
	whole, part = strings.TrimLeft(whole, "0"), strings.TrimRight(part, "0")
	return strings.TrimSuffix(cmp.Or(whole, "0")+"."+part, ".")
}

// phases describes all phases of a workflow.
func phases(p checkpoint.Progress) string {
	switch {
	case len(p.Names) > 0:
		return "the phases " + strings.Join(p.Names, ", ")
	case p.Total > 0:
		return fmt.Sprintf("%d phases", p.Total)
	}
	return "no phases yet"
}

// isBetween reports whether s names an inserted phase like 4b or 4.5: the number of an
// existing phase, followed by a suffix.
func isBetween(s string, total int) bool {
	rest := strings.TrimLeft(s, "0123456789")
	n, err := strconv.Atoi(s[:len(s)-len(rest)])
	return err == nil && rest != "" && n >= 1 && n <= total
}

// Place returns the index of a phase from 0, and false if the index is unknown: that in the names, or
// without names that of its number.
func Place(names []string, phase string) (int, bool) {
	if len(names) > 0 {
		n := slices.Index(names, phase)
		return n, n >= 0
	}
	n, err := strconv.Atoi(phase)
	return n - 1, err == nil && n > 0
}

func (t Transition) leads(from string) bool { return t.From == from || t.From == "*" }

// inOrder sorts phases by index. Phases without an index come last, in their original
// order.
func inOrder(p checkpoint.Progress, phases []string) []string {
	slices.SortStableFunc(phases, func(a, b string) int {
		m, knowsA := Place(p.Names, a)
		n, knowsB := Place(p.Names, b)
		switch {
		case knowsA && knowsB:
			return m - n
		case knowsA:
			return -1
		case knowsB:
			return 1
		}
		return 0
	})
	return phases
}

// follow makes the first unfinished phase current. After the last phase, numbers
// continue, as in systems that only count phases.
func follow(r *checkpoint.Record, p checkpoint.Progress, done string) {
	p.Current = ""
	switch n, err := strconv.Atoi(done); {
	case len(p.Remaining) > 0:
		p.Current = p.Remaining[0]
	case p.Total > 0 && len(p.Names) == 0:
		p.Current = strconv.Itoa(p.Total + 1)
	case p.Total == 0 && err == nil:
		p.Current = numberAfter(p, n)
	}
	store(r, p)
}

// store writes the progress section. It omits derived values unless the record already
// has them: the remaining phases, and the total of named phases.
func store(r *checkpoint.Record, p checkpoint.Progress) {
	if _, written := r.Doc().Lookup("progress.remaining"); !written {
		p.Remaining = nil
	}
	if len(p.Names) > 0 {
		if _, written := r.Doc().Lookup("progress.total"); !written {
			p.Total = 0
		}
	}
	r.SetProgress(p)
}

// leap returns a *RefusedError if no transition leads to the phase of s, nil if the move
// is permitted.
func (s Step) leap(r *checkpoint.Record, verb string) error {
	from := r.Phase()
	if s.Force || s.Ways.allow(from, s.Phase) {
		return nil
	}
	e := &RefusedError{Code: failure.Refused, Issue: r.Issue(), Reason: fmt.Sprintf("the work does not go from phase %s to phase %s", from, s.Phase)}
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
