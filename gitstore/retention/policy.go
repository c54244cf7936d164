// Package retention selects the checkpoints of an issue to keep.
//
// All functions are pure. Plan takes a policy and a chain and returns a decision per
// checkpoint: keep or drop, with the rule as text. The store executes a plan.
//
// A policy maps triggers to rules: keep all checkpoints (-1), the newest n, or zero (0).
// Checkpoints are counted per branch, or per phase of a branch. A save applies the policy
// to its own branch only (PlanSave).
//
//	phase_transition, conflict_start, conflict_resolved, manual   all
//	batch_complete                                                3 per phase
//	agent_complete, batch_start, before_agent, task_update        1 per phase
//	user_interrupt, session_end, interval                         1
//	turn                                                          20
//	any other trigger                                             all, with a warning
//
// Every policy keeps the tip, the newest resumable checkpoint, pinned checkpoints, and those
// that a person went back to. These checkpoints still count
// in their groups, so that a second plan drops nothing more.
//
// "Newest" refers to chain order, never to created_at, because clocks can go backwards.
// Age never removes single checkpoints; Aged applies to whole chains.
package retention

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// All as the Keep value of a Rule keeps every checkpoint.
const All = -1

// Rule limits the checkpoints of a trigger. Negative Keep values mean All. The zero Rule
// keeps zero checkpoints.
type Rule struct {
	Keep     int
	PerPhase bool
}

// String returns the rule as it appears in decisions.
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

// Policy maps triggers to rules. Checkpoints of a trigger without a rule are kept.
type Policy map[checkpoint.Trigger]Rule

// Default returns a new copy of the built-in policy.
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
		checkpoint.Turn:             {Keep: 20},
		checkpoint.TaskUpdate:       {Keep: 1, PerPhase: true},
	}
}

// With returns a copy of p with Keep n for the trigger. PerPhase comes from the existing
// rule in p, otherwise from Default.
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

// ParseKeep parses a TRIGGER=N argument of `prune --keep`. N is -1 or a plain decimal
// number. Unknown triggers with valid syntax are accepted; if no checkpoint has the
// trigger, Warnings reports the rule.
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

// ParseKeeps applies TRIGGER=N rules to a copy of p. Later rules override earlier rules.
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

const day = 24 * 60 * 60 // seconds

// maxDays limits a number of days, so that the conversion to seconds cannot overflow.
const maxDays = 1 << 40

// Older reports whether t is more than days*86,400 seconds before now. Like a git commit,
// t counts in whole seconds. It returns false if t is zero or if days is 0 or negative.
func Older(t time.Time, days int, now time.Time) bool {
	if t.IsZero() || days <= 0 || int64(days) > maxDays {
		return false
	}
	age, limit := now.Unix()-t.Unix(), int64(days)*day
	return age > limit || age == limit && now.Nanosecond() > 0
}

// Aged reports whether all checkpoints of a chain are Older. It returns false for an
// empty chain, and if a checkpoint is pinned or has an unknown time. It also returns false
// if the age is in doubt (see Times.Doubt), with the doubt.
func Aged(items []Item, days int, newest, now time.Time) (aged bool, doubt string) {
	for _, it := range items {
		if it.Pinned || !Older(it.Created, days, now) {
			return false, ""
		}
		if doubt == "" {
			doubt = Times{Created: it.Created, Clock: it.Clock, Newest: newest, Now: now}.Doubt()
		}
	}
	return len(items) > 0 && doubt == "", doubt
}

// Whole reports whether a chain can be archived as a whole: the chain is not empty, and
// no checkpoint is pinned.
func Whole(items []Item) bool {
	return len(items) > 0 && !slices.ContainsFunc(items, func(it Item) bool { return it.Pinned })
}
