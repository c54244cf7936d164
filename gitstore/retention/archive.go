package retention

import (
	"fmt"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// A Reason says why checkpoints went to the archive.
type Reason string

// Why checkpoints go to the archive. How long they stay there is decided by
// the reason.
const (
	ReasonCompleted Reason = "completed" // the work is done
	ReasonFailed    Reason = "failed"    // it went wrong for good
	ReasonAbandoned Reason = "abandoned" // somebody started over
	ReasonAged      Reason = "aged"      // the newest of the chain was too old
	ReasonAsked     Reason = "asked"     // somebody said so
)

// A Stay says how long archived checkpoints stay.
type Stay struct {
	Completed int // days for those of completed work, below 0 for ever, 0 for no time at all
	Other     int // for all others
	Last      int // this many of the newest archivings stay, and no others; 0 for no such rule
}

// Archived is what a plan needs to know of an archived checkpoint.
type Archived struct {
	ID     checkpoint.ID
	Why    Reason
	At     time.Time // when it went there, zero when that is not known
	Pinned bool
}

// Expired decides which archived checkpoints go, and returns a decision for
// each of these. Pins beat age, and so does a time that is not known.
func (s Stay) Expired(archived []Archived, now time.Time) []Decision {
	var gone []Decision
	counted := s.archivings(archived)
	for _, a := range archived {
		rule := s.expired(a, counted, now)
		if rule != "" && !a.Pinned && !a.At.IsZero() {
			gone = append(gone, Decision{ID: a.ID, Rule: rule})
		}
	}
	return gone
}

// expired is the rule by which one goes, "" where it stays.
func (s Stay) expired(a Archived, counted []time.Time, now time.Time) string {
	if s.Last > 0 {
		if n := slices.IndexFunc(counted, a.At.Equal); n >= s.Last {
			return fmt.Sprintf("archived %s: number %d of the newest %d archives kept", a.why(), n+1, s.Last)
		}
		return ""
	}
	days := s.Other
	if a.Why == ReasonCompleted {
		days = s.Completed
	}
	if days == 0 && !a.At.After(now) || Older(a.At, days, now) {
		return fmt.Sprintf("archived %s, more than %d days ago: expired", a.why(), days)
	}
	return ""
}

// archivings are the times of archivings, newest first: what went to the
// archive together is one.
func (s Stay) archivings(archived []Archived) []time.Time {
	var times []time.Time
	for _, a := range archived {
		times = append(times, a.At)
	}
	slices.SortFunc(times, func(a, b time.Time) int { return b.Compare(a) })
	return slices.CompactFunc(times, time.Time.Equal)
}

func (a Archived) why() string {
	switch a.Why {
	case ReasonAsked, "":
		return "by hand"
	case ReasonAged:
		return "for its age"
	}
	return "as " + string(a.Why)
}
