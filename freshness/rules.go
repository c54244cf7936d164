package freshness

import (
	"slices"
	"strings"
	"time"
)

// Default rules.
const (
	DefaultMaxAge    = 7 * 24 * time.Hour
	DefaultTolerance = 14 * time.Hour // local time written as UTC is off by up to 14 h
	DefaultSkew      = time.Minute    // between the clocks of two machines
	StatePrefix      = "state:"
)

var defaultPhases = []string{"enrich", "ready", "implementing", "validation", "docs"}

// aliases maps alternative names to default phases.
var aliases = map[string]string{"e2e": "validation"}

// KnownPhase reports whether a phase exists in names, the phases of a record, or in the
// rules' Phases. If both lists are empty, it checks the default phases. Aliases count.
func (r Rules) KnownPhase(phase string, names []string) bool {
	return slices.Contains(r.KnownPhases(names), phase) || r.alias(phase) != ""
}

// KnownPhases returns the phases that KnownPhase accepts, without aliases.
func (r Rules) KnownPhases(names []string) []string {
	switch {
	case len(names) > 0:
		return append(slices.Clone(names), r.Phases...)
	case len(r.Phases) > 0:
		return r.Phases
	}
	return defaultPhases
}

func (r Rules) alias(phase string) string {
	if len(r.Phases) > 0 {
		return ""
	}
	return aliases[phase]
}

// Rules are the settings of all checks. The zero value selects defaults.
type Rules struct {
	MaxAge        time.Duration     // age limit for a warning; 0 means DefaultMaxAge, negative disables
	StatePrefix   string            // prefix of state labels; "" means StatePrefix
	LabelsToPhase map[string]string // phases of labels, checked before the prefix
	Phases        []string          // ordered phases; if empty, order is not checked and default phases apply
	Handovers     []Handover        // allowed handovers between commands
	FilesAnswered bool              // the user already decided about changed files
	Strict        bool              // any warning makes the verdict stale
	Auto          bool              // run without a user who reads warnings
}

func (r Rules) maxAge() time.Duration {
	if r.MaxAge == 0 {
		return DefaultMaxAge
	}
	return r.MaxAge
}

// stateLabels returns unique state labels.
func (r Rules) stateLabels(labels []string) []string {
	prefix := r.StatePrefix
	if prefix == "" {
		prefix = StatePrefix
	}
	var out []string
	for _, l := range set(labels) {
		if _, mapped := r.LabelsToPhase[l]; mapped || strings.HasPrefix(l, prefix) {
			out = append(out, l)
		}
	}
	return out
}

// phaseOf returns the phase of a state label. LabelsToPhase has priority; otherwise the
// label without prefix must be a known phase. It returns "" for other labels.
func (r Rules) phaseOf(label string, names []string) string {
	if phase, ok := r.LabelsToPhase[label]; ok {
		return phase
	}
	prefix := r.StatePrefix
	if prefix == "" {
		prefix = StatePrefix
	}
	phases := r.Phases
	if len(phases) == 0 {
		phases = defaultPhases
	}
	phase, ok := strings.CutPrefix(label, prefix)
	if alias := r.alias(phase); ok && alias != "" {
		return alias
	}
	if ok && (slices.Contains(phases, phase) || slices.Contains(names, phase)) {
		return phase
	}
	return ""
}
