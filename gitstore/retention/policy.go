// Package retention decides which checkpoints of an issue are kept.
//
// It is pure: Plan takes a policy and a chain and returns one decision for
// every checkpoint, kept or dropped, with its rule in words. Acting on a plan
// is the store's work.
//
// A policy has one rule a trigger: how many of its checkpoints to keep, -1 all,
// 0 none, n the newest n. They are counted for each branch, or for each phase of
// a branch. A save applies the policy to its own branch only (PlanSave).
//
//	phase_transition, conflict_start, conflict_resolved, manual   all
//	batch_complete                                                3 per phase
//	agent_complete, batch_start, before_agent, task_update        1 per phase
//	user_interrupt, session_end, interval                         1
//	any other trigger                                             all, with a warning
//
// Rules are ORed with those that no policy can lift. Always kept are the tip,
// the newest checkpoint that can be resumed, pinned ones, and approvals that no
// remote has yet. Checkpoints kept for such a reason still count in their
// group, so that planning twice drops nothing more.
//
// "Newest" means the order of the chain, never created_at: clocks go backwards,
// chains do not. Age never thins a chain; Aged judges whole chains.
package retention

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
)

// All as Rule.Keep keeps every checkpoint.
const All = -1

// Rule says how many checkpoints of a trigger to keep. Any negative Keep is
// All. The zero Rule keeps none.
type Rule struct {
	Keep     int
	PerPhase bool
}

// String describes the rule in the words of the decisions.
func (r Rule) String() string {
	switch {
	case r.Keep < 0:
		return "keep all"
	case r.Keep == 0:
		return "keep none"
	case r.PerPhase:
		return fmt.Sprintf("newest %d per phase", r.Keep)
	}
	return fmt.Sprintf("newest %d", r.Keep)
}

// Policy holds the rule of every trigger. A trigger without a rule is kept.
type Policy map[checkpoint.Trigger]Rule

// Default returns a new copy of the policy that holds where nothing is
// configured.
func Default() Policy {
	return Policy{
		checkpoint.PhaseTransition:  {Keep: All},
		checkpoint.ConflictStart:    {Keep: All},
		checkpoint.ConflictResolved: {Keep: All},
		checkpoint.Manual:           {Keep: All},
		checkpoint.BatchComplete:    {Keep: 3, PerPhase: true},
		checkpoint.AgentComplete:    {Keep: 1, PerPhase: true},
		checkpoint.BatchStart:       {Keep: 1, PerPhase: true},
		checkpoint.BeforeAgent:      {Keep: 1, PerPhase: true},
		checkpoint.UserInterrupt:    {Keep: 1},
		checkpoint.SessionEnd:       {Keep: 1},
		checkpoint.Interval:         {Keep: 1},
		checkpoint.TaskUpdate:       {Keep: 1, PerPhase: true},
	}
}

// With returns a copy of p that keeps n checkpoints of the trigger. Whether
// they are counted per phase stays as the default table has it.
func (p Policy) With(t checkpoint.Trigger, n int) Policy {
	q := maps.Clone(p)
	if q == nil {
		q = Policy{}
	}
	old, ok := q[t]
	if !ok {
		old = Default()[t]
	}
	q[t] = Rule{Keep: n, PerPhase: old.PerPhase}
	return q
}

// ParseKeep reads TRIGGER=N as `prune --keep` takes it. N is -1 or a plain
// decimal number. An unknown trigger of a legal shape is accepted: Warnings
// names it when no checkpoint has it.
func ParseKeep(s string) (checkpoint.Trigger, int, error) {
	name, count, ok := strings.Cut(s, "=")
	if !ok {
		return "", 0, fmt.Errorf("retention rule %q: want TRIGGER=N", s)
	}
	t, err := checkpoint.ParseTrigger(name)
	if err != nil {
		return "", 0, fmt.Errorf("retention rule %q: %w", s, err)
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < All || strconv.Itoa(n) != count {
		return "", 0, fmt.Errorf("retention rule %q: want -1 (all), 0 (none) or a number, got %q", s, count)
	}
	return t, n, nil
}

// ParseKeeps applies several TRIGGER=N rules to a copy of p; later ones win.
func ParseKeeps(p Policy, rules []string) (Policy, error) {
	for _, s := range rules {
		t, n, err := ParseKeep(s)
		if err != nil {
			return nil, err
		}
		p = p.With(t, n)
	}
	return p, nil
}
