package freshness

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/checkpoint/progress"
	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/failure"
)

// Action is the action recommended for a checkpoint. Larger actions are worse.
type Action int

// The actions, from best to worst.
const (
	Resume Action = iota
	ProceedWithWarning
	PromptUser
	StartFresh
)

// String returns the name used in JSON output.
func (a Action) String() string {
	return [...]string{"resume", "proceed_with_warning", "prompt_user", "start_fresh"}[a]
}

// MarshalText returns the name for JSON.
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// Severity returns the severity of a reason with this action.
func (a Action) Severity() string { return [...]string{"note", "warning", "question", "error"}[a] }

// Reason is one finding.
type Reason struct {
	Check   string // table row, such as "labels"
	Message string
	Action  Action
	Detail  []string // details that Message does not have, one per line
	Diff    []string // diff lines with prefix - or +
	Hint    string   // suggested command, or ""
	Corrupt bool     // the recorded state contradicts itself, its files or the clock
}

// Verdict is the result of all checks.
type Verdict struct {
	Action    Action
	CanResume bool // true unless Action is start_fresh
	Stale     bool // Rules.Strict is set and warnings exist
	Reasons   []Reason

	// AutoResume reports whether an unattended resume goes on: resume --auto. AutoReason is
	// AllMet, or the first reason against it.
	AutoResume bool
	AutoReason string

	// Files is a copy of Facts.Files, Next of Facts.Next, and Stories of Facts.Stories.
	Files   Files
	Next    Next
	Stories []story.Standing

	// Awaiting lists phases with pending approval.
	Awaiting []string

	// Phase is the phase of the new state label if the labels changed, otherwise "".
	Phase string

	// Merged is the branch that has all of the work, if its own branch is gone, or "".
	Merged string

	// Old reports whether the checkpoint is older than DefaultMaxAge. For a dotagent record
	// this includes the times of the recorded state.
	Old bool

	// Corrupt reports whether a reason is marked as corrupt.
	Corrupt bool

	// Other is a copy of Facts.Branch if HEAD is on another branch, otherwise zero.
	Other Branch

	// At is the point at which the work goes on. Work that waits for an approval is not complete.
	At progress.Point
}

// Recorded returns a verdict that has the point of a record alone, without a judgement.
func Recorded(r *checkpoint.Record) Verdict { return Verdict{At: progress.PointOf(r)} }

// Warnings returns the messages of all reasons except notes.
func (v Verdict) Warnings() []string {
	var out []string
	for _, r := range v.Reasons {
		if r.Action > Resume {
			out = append(out, r.Message)
		}
	}
	return out
}

// WorstFirst returns all reasons, sorted by descending action.
func (v Verdict) WorstFirst() []Reason {
	reasons := slices.Clone(v.Reasons)
	slices.SortStableFunc(reasons, func(a, b Reason) int { return int(b.Action) - int(a.Action) })
	return reasons
}

func quoted(s string) string { return strconv.QuoteToGraphic(s) }

// command joins words into a shell command, quoted if they have shell syntax, since a
// branch may have the name $(reboot). It returns "" if a word contains control
// characters. No quoting makes such characters safe on a terminal.
func command(words ...string) string {
	for k, w := range words {
		if failure.Printable(w) != w {
			return ""
		}
		words[k] = failure.Quote(w)
	}
	return strings.Join(words, " ")
}

// commit returns a short commit id for messages, or a text for an unborn branch.
func commit(rev string) string {
	return cmp.Or(short(rev), "(no commit yet)")
}

// short abbreviates a full object id to 12 digits. Other names are returned unchanged.
func short(rev string) string {
	if len(rev) < 40 {
		return rev
	}
	return rev[:12]
}
