package retention

import (
	"fmt"
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// A Reason is a reason for archiving.
type Reason string

// Reasons for archiving. The reason determines the retention period in the archive.
const (
	ReasonCompleted Reason = "completed" // completed work
	ReasonFailed    Reason = "failed"    // permanently failed work
	ReasonAbandoned Reason = "abandoned" // work that was restarted from scratch
	ReasonAged      Reason = "aged"      // newest checkpoint of the chain too old
	ReasonAsked     Reason = "asked"     // user request
	ReasonCompared  Reason = "compared"  // attempt that was compared with an adopted one
	ReasonAdopted   Reason = "adopted"   // attempt that was merged into the work that it started from
)

// A Stay limits the retention time in the archive.
type Stay struct {
	Completed int // days for completed work; negative: unlimited; 0: expires immediately
	Other     int // days for all other reasons, with the same special values
	Last      int // if positive, only this number of the newest archivings stays, regardless of age
}

// Archived is the input of Stay.Expired for one archived checkpoint.
type Archived struct {
	ID     checkpoint.ID
	Why    Reason
	At     time.Time // time of archiving, zero if unknown
	Pinned bool
	Times  Times // further known times; Archived and Now are set by Expired
}

// Expired returns a Decision for each archived checkpoint that is too old. The decision
// keeps the checkpoint if the age is in doubt. Pinned checkpoints and checkpoints with an
// unknown archiving time never expire.
func (s Stay) Expired(archived []Archived, now time.Time) []Decision {
	var gone []Decision
	var counted []time.Time // of the archivings, newest first: checkpoints with equal times belong to one
	for _, a := range archived {
		counted = append(counted, a.At)
	}
	slices.SortFunc(counted, func(a, b time.Time) int { return b.Compare(a) })
	counted = slices.CompactFunc(counted, time.Time.Equal)
	for _, a := range archived {
		rule := s.expired(a, counted, now)
		if rule == "" || a.Pinned || a.At.IsZero() {
			continue
		}
		d, times := Decision{ID: a.ID, Rule: rule}, a.Times
		times.Archived, times.Now = a.At, now
		if doubt := times.Doubt(); doubt != "" && s.Last <= 0 && s.days(a) != 0 { // the rule is about an age
			d = Decision{ID: a.ID, Keep: true, Rule: "archived " + a.why() + ", kept: " + doubt, Doubt: doubt}
		}
		gone = append(gone, d)
	}
	return gone
}

// days returns the number of days that a stays in the archive.
func (s Stay) days(a Archived) int {
	if a.Why == ReasonCompleted {
		return s.Completed
	}
	return s.Other
}

// expired returns the rule that expires a, "" if a stays.
func (s Stay) expired(a Archived, counted []time.Time, now time.Time) string {
	if s.Last > 0 {
		if n := slices.IndexFunc(counted, a.At.Equal); n >= s.Last {
			return fmt.Sprintf("archived %s: number %d of the newest %d archives kept", a.why(), n+1, s.Last)
		}
		return ""
	}
	days := s.days(a)
	if days == 0 && !a.At.After(now) || Older(a.At, days, now) {
		return fmt.Sprintf("archived %s, more than %d days ago: expired", a.why(), days)
	}
	return ""
}

func (a Archived) why() string {
	switch a.Why {
	case ReasonAsked, "":
		return "by hand"
	case ReasonAged:
		return "for its age"
	case ReasonCompared:
		return "after a comparison of attempts"
	case ReasonAdopted:
		return "after its adoption"
	}
	return "as " + string(a.Why)
}
