package progress

import (
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// A Way is a command that leads on, as the words after "git checkpoint".
type Way []string

// NothingError is the failure of a transition that has nothing to change: what
// it would record is recorded.
type NothingError struct{ Reason string }

func (e *NothingError) Error() string { return e.Reason }

// already is a NothingError about a phase.
func already(phase, how string) error {
	return &NothingError{fmt.Sprintf("phase %s is %s already", phase, how)}
}

// UnknownError is the failure for a phase that the workflow does not have.
// Instead are the ways on.
type UnknownError struct {
	Issue   checkpoint.Issue
	Instead []Way

	Phase  string
	Phases string // those there are
}

func (e *UnknownError) Error() string {
	if e.Phase == "" {
		return "which phase? " + e.Phases
	}
	return fmt.Sprintf("phase %s: the workflow has %s", e.Phase, e.Phases)
}

// RefusedError is the failure of a transition that the state of the work
// forbids. Instead are the ways on.
type RefusedError struct {
	Issue   checkpoint.Issue
	Reason  string
	Over    bool // the phase is completed, or was skipped
	Instead []Way
}

func (e *RefusedError) Error() string { return e.Reason }

// ApprovalError is the failure of a transition that has to wait until a person
// approves a phase.
type ApprovalError struct {
	Issue checkpoint.Issue
	Phase string
}

func (e *ApprovalError) Error() string {
	return fmt.Sprintf("approval of phase %s is pending", e.Phase)
}

// PlanLimitError is the failure for something that was done as often as it may be.
// Instead are the ways on: starting over is none of them.
type PlanLimitError struct {
	Issue   checkpoint.Issue
	Reason  string   // what, how often, and the limit
	History []string // when and why it was done, oldest first
	Instead []Way
}

func (e *PlanLimitError) Error() string {
	return strings.Join(append([]string{e.Reason}, e.History...), "\n  ")
}
