package checkpoint

import (
	"fmt"
	"slices"
)

// Trigger says what made a checkpoint.
type Trigger string

// The triggers that are known. Others are legal: they are kept forever, with
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

var triggerShape = pattern(`^[a-z0-9_]{1,64}$`)

// Triggers returns the known triggers, in the order they are documented.
func Triggers() []Trigger { return slices.Clone(triggers) }

// Known reports whether t is one of Triggers.
func (t Trigger) Known() bool { return slices.Contains(triggers, t) }

// Automatic reports whether t belongs to the class that auto_checkpoint
// switches off. A person or the end of a session makes the others, and an
// unknown trigger is saved rather than lost.
func (t Trigger) Automatic() bool {
	switch t {
	case UserInterrupt, SessionEnd, Manual:
		return false
	}
	return t.Known()
}

// ParseTrigger checks the shape of s only: lower-case letters, digits and
// '_', at most 64 of them.
func ParseTrigger(s string) (Trigger, error) {
	if !Trigger(s).Known() && !triggerShape().MatchString(s) {
		return "", fmt.Errorf("trigger %.80q: want 1 to 64 of a-z, 0-9 and _", s)
	}
	return Trigger(s), nil
}
