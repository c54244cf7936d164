package freshness

import (
	"fmt"
	"slices"
)

// Action is what to do with a checkpoint. A larger one is worse.
type Action int

// The actions, from best to worst.
const (
	Resume Action = iota
	ProceedWithWarning
	PromptUser
	StartFresh
)

var actionNames = [...]string{"resume", "proceed_with_warning", "prompt_user", "start_fresh"}

// String returns the name that scripts see.
func (a Action) String() string {
	if a < Resume || a > StartFresh {
		return fmt.Sprintf("action(%d)", int(a))
	}
	return actionNames[a]
}

// MarshalText gives JSON the name.
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// Severity is the action of one reason as a word: note, warning, question or
// error.
func (a Action) Severity() string {
	switch a {
	case Resume:
		return "note"
	case ProceedWithWarning:
		return "warning"
	case PromptUser:
		return "question"
	}
	return "error"
}

// Reason is one finding.
type Reason struct {
	Check    string // the row of the table, such as "labels"
	Severity string
	Message  string
	Action   Action
	Detail   []string // what exactly, a line each
	Diff     []string // what was and what is, a line each, with - and + in front
	Hint     string   // a command to type, "" if there is none
}

func reason(check string, a Action, format string, args ...any) Reason {
	return Reason{Check: check, Severity: a.Severity(), Action: a, Message: fmt.Sprintf(format, args...)}
}

// unchecked is the finding that something cannot be known.
func unchecked(check, what, why string) Reason {
	if why == "" {
		why = "nothing is known about it"
	}
	return reason(check, ProceedWithWarning, "%s not checked: %s", what, printable(why))
}

// Verdict is the outcome of all checks.
type Verdict struct {
	Action    Action
	CanResume bool // everything but start_fresh
	Stale     bool // Rules.Strict, and there are warnings
	Reasons   []Reason

	// Safe says whether the run before allows a resume without anybody to ask,
	// whatever the other checks found; SafeWhy is the first condition that is
	// not met, else AllMet.
	Safe    bool
	SafeWhy string

	// Changed are the files that changed since, and InTheWay those of them
	// that no choice replaces.
	Changed, InTheWay []string

	// Awaiting are the phases whose approval is pending.
	Awaiting []string

	// StateLabel and Phase follow the labels where these changed: the
	// new state label, and the phase it stands for. Both are "" otherwise.
	StateLabel string
	Phase      string

	// Old says that the checkpoint is older than Rules.MaxAge.
	Old bool

	// Next is Facts.Next.
	Next Next
}

// Warnings returns the message of every reason but the notes.
func (v Verdict) Warnings() []string {
	var out []string
	for _, r := range v.Reasons {
		if r.Action > Resume {
			out = append(out, r.Message)
		}
	}
	return out
}

// WorstFirst returns the reasons, those of the worst action first.
func (v Verdict) WorstFirst() []Reason {
	reasons := slices.Clone(v.Reasons)
	slices.SortStableFunc(reasons, func(a, b Reason) int { return int(b.Action) - int(a.Action) })
	return reasons
}
