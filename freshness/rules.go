package freshness

import (
	"slices"
	"strings"
	"time"
)

// The rules that hold where none are given.
const (
	DefaultMaxAge    = 7 * 24 * time.Hour
	DefaultTolerance = 14 * time.Hour // local time written as UTC is up to 14 h off
	DefaultSkew      = time.Minute    // between the clocks of two machines
	StatePrefix      = "state:"
)

var defaultPhases = []string{"enrich", "ready", "implementing", "validation", "docs"}

// aliases are other names of the phases that hold where none are given.
var aliases = map[string]string{"e2e": "validation"}

// KnownPhase reports whether a phase is one of names, which a record may have,
// else of the rules' Phases, else of those that hold where none are given.
func (r Rules) KnownPhase(phase string, names []string) bool {
	return slices.Contains(r.KnownPhases(names), phase) || r.alias(phase) != ""
}

// KnownPhases returns the phases that KnownPhase looks among, without aliases.
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

// Rules are the settings of the checks. The zero value has the defaults.
type Rules struct {
	MaxAge        time.Duration     // older is a warning; 0 is DefaultMaxAge, negative is off
	StatePrefix   string            // what makes a label a state label; "" is StatePrefix
	LabelsToPhase map[string]string // the phase of a label, before the prefix is tried
	Phases        []string          // their order; empty checks none and maps crunch's
	Handovers     []Handover        // which commands go on with which others' workflows
	FilesAnswered bool              // what to do with changed files is decided already
	Strict        bool              // any warning makes the verdict stale
	Auto          bool              // nobody is there to look at warnings
}

func (r Rules) maxAge() time.Duration {
	if r.MaxAge == 0 {
		return DefaultMaxAge
	}
	return r.MaxAge
}

// stateLabels returns the labels that stand for a state, without duplicates.
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

// phaseOf returns the phase that a state label stands for, "" if it stands for
// none: what LabelsToPhase says, else the label without its prefix if that is
// one of the phases.
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
