package retention

import (
	"fmt"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// Tolerance is the difference at which two times contradict each other. Local time written
// as UTC is off by up to 14 hours.
const Tolerance = 14 * time.Hour

// MaxLead is the lead of the current time over the newest known time at which the clock of
// this machine counts as wrong.
const MaxLead = 365 * 24 * time.Hour

// Times are the known times of a checkpoint and of its repository. A zero time is unknown.
type Times struct {
	Created  time.Time        // save of the checkpoint
	Clock    checkpoint.Clock // clock of the checkpoint, after the clocks of its ancestors
	Base     time.Time        // commit of HEAD at the save
	Archived time.Time        // move to the archive
	Newest   time.Time        // commit of HEAD now
	Now      time.Time
}

// Doubt returns why no age can be computed from these times, or "". One of the clocks that
// wrote them was wrong. No age is computed then, because a rule of age would remove a
// checkpoint too early.
func (t Times) Doubt() string {
	written, by := t.Created, "was saved"
	if !t.Archived.IsZero() {
		written, by = t.Archived, "was archived"
	}
	if written.IsZero() {
		return ""
	}
	ancestor := time.Unix(0, int64(t.Clock))
	if t.Clock.Ahead(t.Now) {
		ancestor = time.Time{} // a later checkpoint inherits a clock that was ahead
	}
	switch limit := written.Add(Tolerance); {
	case t.Created.After(limit):
		return fmt.Sprintf("it %s %s before it was saved: a clock was wrong", by, lead(t.Created.Sub(written)))
	case t.Base.After(limit):
		return fmt.Sprintf("it %s %s before its commit was made: a clock was wrong", by, lead(t.Base.Sub(written)))
	case ancestor.After(limit):
		return fmt.Sprintf("it %s %s before an older checkpoint was saved: a clock was wrong", by, lead(ancestor.Sub(written)))
	}
	newest := t.Newest
	if newest.After(t.Now.Add(Tolerance)) {
		newest = time.Time{}
	}
	for _, known := range []time.Time{t.Created, t.Archived, t.Base} {
		if known.After(newest) {
			newest = known
		}
	}
	if ahead := t.Now.Sub(newest); ahead > MaxLead {
		return fmt.Sprintf("the clock of this machine is %s ahead of the newest commit: it may be wrong", lead(ahead))
	}
	return ""
}

// lead returns a difference of times in hours or days.
func lead(d time.Duration) string {
	if d < 48*time.Hour {
		return fmt.Sprintf("%d hours", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
