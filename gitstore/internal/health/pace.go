package health

import "time"

// A Pace is how often the work on an issue was saved.
type Pace struct {
	Issue       string
	Over        bool // the workflow has ended, or there is none
	Whole       bool // the chain has the work from its begin, not only a document of it
	Phases      int  // that there are
	Done        int  // of these, completed or skipped
	Checkpoints int
	Newest      time.Time
	Most        string    // the phase with the most checkpoints
	Count       int       // of these
	Heartbeat   time.Time // of the lead of a pipeline that is not complete, zero for none
}

// Bounds of what is too often and too seldom.
const (
	mostOfPhase = 20 // checkpoints of one phase that cost more than they save
	fewPhases   = 3  // phases that may be over before any of them was saved
)

// JudgePace says where work is saved too seldom or too often, and where nobody
// seems to be at work any more. Work that was not saved for longer than stale is
// told of, 0 for never.
func JudgePace(now time.Time, stale time.Duration, paces []Pace) []Finding {
	var found []Finding
	for _, p := range paces {
		quiet := now.Sub(p.Newest)
		switch beat := now.Sub(p.Heartbeat); {
		case stale <= 0:
		case !p.Heartbeat.IsZero() && beat > stale:
			found = append(found, warning("issue %s: its lead may be dead: the last heartbeat was %s ago", p.Issue, age(beat)))
		case !p.Over && p.Phases > 1 && p.Done < p.Phases && quiet > stale:
			found = append(found, warning("issue %s: not saved for %s, with %d of %d phases done", p.Issue, age(quiet), p.Done, p.Phases))
		}
		if p.Whole && p.Done >= fewPhases && p.Checkpoints < p.Done {
			found = append(found, warning("issue %s: saved too seldom: %s for %d phases that are done; git checkpoint phase done saves after each", p.Issue, plural(p.Checkpoints, "checkpoint"), p.Done))
		}
		if p.Count > mostOfPhase {
			found = append(found, warning("issue %s: saved too often: %s of phase %s; 5 to 10 for a workflow would do: git config checkpoint.min-interval 60", p.Issue, plural(p.Count, "checkpoint"), p.Most))
		}
	}
	return found
}
