package doctor

import "time"

// A Pace describes the save frequency of an issue.
type Pace struct {
	Issue       string
	Over        bool // workflow completed, or no workflow
	Whole       bool // chain covers the work from the start, not only an imported document
	Phases      int  // number of phases
	Done        int  // completed or skipped phases
	Checkpoints int
	Newest      time.Time
	Most        string    // phase with the most checkpoints
	Count       int       // checkpoints of phase Most
	Heartbeat   time.Time // last heartbeat of an incomplete pipeline's lead, or zero
}

// Limits for save frequency.
const (
	mostOfPhase = 20 // more checkpoints of one phase cost more than they save
	fewPhases   = 3  // completed phases before missing checkpoints are reported
)

// JudgePace reports issues saved too rarely or too often, and abandoned work. Work
// without a save for longer than stale is reported, unless stale is 0.
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
