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
	counted := s.archivings(archived)
	for _, a := range archived {
		rule := s.expired(a, counted, now)
		if rule == "" || a.Pinned || a.At.IsZero() {
			continue
		}
		d := Decision{ID: a.ID, Rule: rule}
		if doubt := s.doubt(a, now); doubt != "" {
			d = Decision{ID: a.ID, Keep: true, Rule: "archived " + a.why() + ", kept: " + doubt, Doubt: doubt}
		}
		gone = append(gone, d)
	}
	return gone
}

// doubt returns why the age of a is in doubt, or "". Rules without an age have no doubt.
func (s Stay) doubt(a Archived, now time.Time) string {
	if s.Last > 0 || s.days(a) == 0 {
		return ""
	}
	t := a.Times
	t.Archived, t.Now = a.At, now
	return t.Doubt()
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

// archivings returns the distinct archiving times, newest first. Checkpoints with equal
// times belong to one archiving.
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
	case ReasonCompared:
		return "after a comparison of attempts"
	case ReasonAdopted:
		return "after its adoption"
	}
	return "as " + string(a.Why)
}
