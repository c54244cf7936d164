package progress

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// maxPhaseName limits the bytes of a phase name.
const maxPhaseName = 200

// phaseNamed returns the phase for a name, or for a number if phases have names.
func phaseNamed(p checkpoint.Progress, typed string) (string, error) {
	if !slices.Contains(p.Names, typed) {
		typed = plainNumber(typed)
	}
	n, err := strconv.Atoi(strings.TrimPrefix(typed, "phase_"))
	isNumber := err == nil
	switch {
	case typed == "" || len(typed) > maxPhaseName:
		return "", &UnknownError{Phase: fmt.Sprintf("%.40q", typed), Phases: phases(p)}
	case slices.Contains(p.Names, typed):
		return typed, nil
	case len(p.Names) > 0 && isNumber && n >= 1 && n <= len(p.Names):
		return p.Names[n-1], nil
	case len(p.Names) > 0, p.Total > 0 && isNumber && (n < 1 || n > p.Total), p.Total > 0 && !isNumber && !isBetween(typed, p.Total):
		return "", &UnknownError{Phase: typed, Phases: phases(p)}
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

// isBetween reports whether s names an inserted phase like 4b or 4.5: the number of an
// existing phase, followed by a suffix.
func isBetween(s string, total int) bool {
	rest := strings.TrimLeft(s, "0123456789")
	n, err := strconv.Atoi(s[:len(s)-len(rest)])
	return err == nil && rest != "" && n >= 1 && n <= total
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

// Resolve returns the phase for a typed name or number. An empty text means the current
// phase.
func Resolve(r *checkpoint.Record, typed string) (string, error) {
	p := r.Progress()
	if typed != "" {
		phase, err := phaseNamed(p, typed)
		return phase, pointOn(r, err)
	}
	if phase := Next(r); phase != "" {
		return phase, nil
	}
	return "", pointOn(r, &UnknownError{Phases: "no phase is left"})
}

// pointOn adds suggested commands to an UnknownError.
func pointOn(r *checkpoint.Record, err error) error {
	unknown, ok := err.(*UnknownError)
	if !ok {
		return err
	}
	unknown.Issue, unknown.Instead = r.Issue(), []Way{{"phase", "next"}}
	if p := r.Progress(); Next(r) == "" {
		unknown.Instead = []Way{{"finish"}}
		if p.Total == 0 {
			unknown.Instead = []Way{{"start"}}
		}
	}
	return unknown
}

// Next returns the first phase that is neither completed nor skipped. If the workflow has
// no phase list, Next returns the current phase unless it is over. The result is "" if no
// phase remains.
func Next(r *checkpoint.Record) string {
	p := r.Progress()
	if len(p.Remaining) > 0 {
		return p.Remaining[0]
	}
	if p.Total > 0 {
		return ""
	}
	for _, phase := range []string{p.Current, r.Phase()} {
		if phase != "" && !p.Over(phase) {
			return phase
		}
	}
	return ""
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

// place returns the index of a phase from 0, and false if the index is unknown.
func place(p checkpoint.Progress, phase string) (int, bool) {
	if len(p.Names) > 0 {
		n := slices.Index(p.Names, phase)
		return n, n >= 0
	}
	n, err := strconv.Atoi(phase)
	return n - 1, err == nil && n > 0
}

// inOrder sorts phases by index. Phases without an index come last, in their original
// order.
func inOrder(p checkpoint.Progress, phases []string) []string {
	slices.SortStableFunc(phases, func(a, b string) int {
		m, knowsA := place(p, a)
		n, knowsB := place(p, b)
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

// Ahead returns the unfinished phases before a phase.
func Ahead(r *checkpoint.Record, phase string) []string {
	p := r.Progress()
	at, ok := place(p, phase)
	if !ok {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Remaining), func(other string) bool {
		n, ok := place(p, other)
		return !ok || n >= at
	})
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
		for n++; p.Over(strconv.Itoa(n)); n++ {
			continue
		}
		p.Current = strconv.Itoa(n)
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
