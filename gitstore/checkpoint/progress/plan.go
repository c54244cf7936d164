package progress

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// maxPhaseName is how long the name of a phase may be, in bytes.
const maxPhaseName = 200

// phaseNamed returns the phase that a person means: by its name, or by its
// number where phases have names.
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

// plainNumber is a number without the zeros that say nothing: 1.0 and 01 are 1,
// and 4.50 is 4.5. All else stays as it is.
func plainNumber(s string) string {
	whole, part, _ := strings.Cut(strings.TrimPrefix(s, "phase_"), ".")
	if whole == "" || strings.Trim(whole+part, "0123456789") != "" {
		return s
	}
	whole, part = strings.TrimLeft(whole, "0"), strings.TrimRight(part, "0")
	return strings.TrimSuffix(cmp.Or(whole, "0")+"."+part, ".")
}

// isBetween takes phases that were put in between, like 4b or 4.5: the number of
// one that there is, and more.
func isBetween(s string, total int) bool {
	rest := strings.TrimLeft(s, "0123456789")
	n, err := strconv.Atoi(s[:len(s)-len(rest)])
	return err == nil && rest != "" && n >= 1 && n <= total
}

// phases describes the phases there are.
func phases(p checkpoint.Progress) string {
	switch {
	case len(p.Names) > 0:
		return "the phases " + strings.Join(p.Names, ", ")
	case p.Total > 0:
		return fmt.Sprintf("%d phases", p.Total)
	}
	return "no phases yet"
}

// Resolve returns the phase that is meant by what was typed, "" for the
// current one.
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

// pointOn names the ways on from an error over a phase that is not there.
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

// Next returns the phase to go on with: the first that is neither completed
// nor skipped, else the current one unless it is over, "" for none.
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

// Complete reports whether the workflow has phases and all are over.
func Complete(r *checkpoint.Record) bool {
	p := r.Progress()
	return p.Total > 0 && len(p.Remaining) == 0
}

// IsOver reports whether nobody has to do a phase: it is completed, or was
// skipped. A phase that the workflow does not have is not over.
func IsOver(r *checkpoint.Record, typed string) bool {
	p := r.Progress()
	phase, err := phaseNamed(p, typed)
	return p.Over(typed) || err == nil && p.Over(phase)
}

// place is where a phase stands among the others, from 0; false where that is
// not known.
func place(p checkpoint.Progress, phase string) (int, bool) {
	if len(p.Names) > 0 {
		n := slices.Index(p.Names, phase)
		return n, n >= 0
	}
	n, err := strconv.Atoi(phase)
	return n - 1, err == nil && n > 0
}

// inOrder sorts phases whose places are known; the others stay behind them, in
// the order they came.
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

// Ahead returns the phases before one that are not over.
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

// follow makes the first phase that is not over the current one. Behind the
// last phase numbers go on, as the systems have it that count.
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

// store writes the progress. What remains is worked out where nobody wrote it.
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
