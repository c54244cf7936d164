package progress

import (
	"fmt"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// A Way is a suggested command: the arguments after "git checkpoint".
type Way []string

// A NothingError reports that a transition changes nothing, because the record already
// has its result.
type NothingError struct{ Reason string }

func (e *NothingError) Error() string { return e.Reason }

// already returns a NothingError about a phase.
func already(phase, how string) error {
	return &NothingError{fmt.Sprintf("phase %s is %s already", phase, how)}
}

// An UnknownError reports a phase that the workflow does not have. Instead lists
// suggested commands.
type UnknownError struct {
	Issue   checkpoint.Issue
	Instead []Way

	Phase  string
	Phases string // description of the existing phases
}

func (e *UnknownError) Error() string {
	if e.Phase == "" {
		return "which phase? " + e.Phases
	}
	return fmt.Sprintf("phase %s: the workflow has %s", e.Phase, e.Phases)
}

// A RefusedError reports a transition that the state of the workflow forbids. Instead
// lists suggested commands.
type RefusedError struct {
	Issue   checkpoint.Issue
	Reason  string
	Over    bool // phase already completed or skipped
	Instead []Way
}

func (e *RefusedError) Error() string { return e.Reason }

// An ApprovalError reports that a phase needs a person's approval before the transition.
type ApprovalError struct {
	Issue checkpoint.Issue
	Phase string
}

func (e *ApprovalError) Error() string {
	return fmt.Sprintf("approval of phase %s is pending", e.Phase)
}

// A PlanLimitError reports a reached limit of retries or replans. Instead lists suggested
// commands, never a restart of the workflow.
type PlanLimitError struct {
	Issue   checkpoint.Issue
	Reason  string   // action, count and limit
	History []string // time and reason of each occurrence, oldest first
	Instead []Way
}

func (e *PlanLimitError) Error() string {
	return strings.Join(append([]string{e.Reason}, e.History...), "\n  ")
}
