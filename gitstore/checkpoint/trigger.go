package checkpoint

import (
	"fmt"
	"slices"

	"git-checkpoint/gitstore/checkpoint/document"
)

// Trigger is the cause of a checkpoint.
type Trigger string

// Known triggers. Other triggers are permitted; their checkpoints are kept forever, with
// a warning.
const (
	PhaseTransition  Trigger = "phase_transition"
	BatchComplete    Trigger = "batch_complete"
	AgentComplete    Trigger = "agent_complete"
	ConflictStart    Trigger = "conflict_start"
	ConflictResolved Trigger = "conflict_resolved"
	UserInterrupt    Trigger = "user_interrupt"
	SessionEnd       Trigger = "session_end"
	Manual           Trigger = "manual"
	BatchStart       Trigger = "batch_start"
	BeforeAgent      Trigger = "before_agent"
	BeforeParallel   Trigger = "before_parallel"
	TaskUpdate       Trigger = "task_update"
	Interval         Trigger = "interval"
)

var triggers = []Trigger{
	PhaseTransition, BatchComplete, AgentComplete, ConflictStart,
	ConflictResolved, UserInterrupt, SessionEnd, Manual, BatchStart,
	BeforeAgent, BeforeParallel, TaskUpdate, Interval,
}

var triggerShape = document.Pattern(`^[a-z0-9_]{1,64}$`)

// Triggers returns the known triggers in documented order.
func Triggers() []Trigger { return slices.Clone(triggers) }

// Known reports whether t is in Triggers.
func (t Trigger) Known() bool { return slices.Contains(triggers, t) }

// Automatic reports whether auto_checkpoint can disable checkpoints with this trigger.
// Triggers of a person and session ends are not automatic. Checkpoints with unknown
// triggers are always saved.
func (t Trigger) Automatic() bool {
	switch t {
	case UserInterrupt, SessionEnd, Manual:
		return false
	}
	return t.Known()
}

// ParseTrigger checks only the syntax of s: 1 to 64 lower-case letters, digits and '_'.
func ParseTrigger(s string) (Trigger, error) {
	if !Trigger(s).Known() && !triggerShape().MatchString(s) {
		return "", fmt.Errorf("trigger %.80q: want 1 to 64 of a-z, 0-9 and _", s)
	}
	return Trigger(s), nil
}

// DocumentValue returns the trigger as text.
func (t Trigger) DocumentValue() any { return string(t) }
