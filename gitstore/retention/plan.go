package retention

import (
	"fmt"
	"strconv"
	"time"

	"git-checkpoint/gitstore/checkpoint"
)

// Item is what a plan needs to know of one checkpoint.
type Item struct {
	ID        checkpoint.ID
	Trigger   checkpoint.Trigger
	Phase     string
	Branch    string    // that it was saved on, "" for a detached HEAD
	Created   time.Time // its commit's time; zero when unknown
	Clock     checkpoint.Clock
	Pinned    bool
	Resumable bool // can_resume of its record
	Valid     bool // its record can be read and breaks no rule
	Synced    bool // a remote has it
	Approval  bool // it records an approval
}

// Decision says whether a checkpoint is kept, and by which rule.
type Decision struct {
	ID   checkpoint.ID
	Keep bool
	Rule string
}

// Plan decides for every item of a chain, given newest first, and returns the
// decisions in that order. It neither changes the items nor looks at their
// times. The clock is taken so that a rule on time can come without a new
// signature; no rule uses it now.
func Plan(p Policy, newestFirst []Item, _ time.Time) []Decision {
	ds := make([]Decision, len(newestFirst))
	resume := resumePick(newestFirst)
	seen := map[group]int{}
	for i, it := range newestFirst {
		keep, rule := p.judge(it, seen)
		if why := protected(it, i, resume); why != "" {
			keep, rule = true, why
		}
		ds[i] = Decision{ID: it.ID, Keep: keep, Rule: rule}
	}
	return ds
}

// PlanSave is Plan for the first item, which is about to be saved. A save drops
// no checkpoint of another branch: its files are not in the worktree that is
// saved.
func PlanSave(p Policy, newestFirst []Item, now time.Time) []Decision {
	ds := Plan(p, newestFirst, now)
	for i, it := range newestFirst {
		if it.Branch != newestFirst[0].Branch && !ds[i].Keep {
			ds[i].Keep, ds[i].Rule = true, "of another branch: kept by a save"
		}
	}
	return ds
}

// KeepFuller keeps checkpoints that Plan would drop although no later one has all
// of their files. covers reports whether a newer item lacks none of the files of
// an older one. It is asked of the newest item and of those of the same group
// that are kept. A policy that keeps none of a trigger is followed.
func KeepFuller(p Policy, newestFirst []Item, ds []Decision, covers func(newer, older int) bool) []Decision {
	for i, it := range newestFirst {
		if ds[i].Keep || p[it.Trigger].Keep == 0 {
			continue
		}
		covered := false
		for j := 0; j < i && !covered; j++ {
			other := newestFirst[j]
			covered = ds[j].Keep && other.Branch == it.Branch && (j == 0 || other.Trigger == it.Trigger) && covers(j, i)
		}
		if !covered {
			ds[i].Keep, ds[i].Rule = true, "no later one has all of its files: kept"
		}
	}
	return ds
}

// resumePick returns the index of the newest checkpoint that a resume with
// fallback would take, -1 if there is none.
func resumePick(items []Item) int {
	for i, it := range items {
		if it.Valid && it.Resumable {
			return i
		}
	}
	return -1
}

// protected names the reason that no policy can lift, "" if there is none.
func protected(it Item, i, resume int) string {
	switch {
	case i == 0:
		return "tip: always kept"
	case i == resume:
		return "newest that can be resumed: always kept"
	case it.Pinned:
		return "pinned: always kept"
	case it.Approval && !it.Synced:
		return "approval not yet on a remote: always kept"
	}
	return ""
}

// group is what a rule counts in.
type group struct {
	trigger checkpoint.Trigger
	branch  string
	phase   string
}

// judge applies the trigger's rule and counts the item in its group.
func (p Policy) judge(it Item, seen map[group]int) (bool, string) {
	name := printable(string(it.Trigger))
	rule, ok := p[it.Trigger]
	switch {
	case !ok && it.Trigger.Known():
		return true, name + ": no rule: kept"
	case !ok:
		return true, name + ": unknown trigger: kept"
	case rule.Keep <= 0:
		return rule.Keep < 0, name + ": " + rule.String()
	}
	g := group{trigger: it.Trigger, branch: it.Branch}
	if rule.PerPhase {
		g.phase = it.Phase
	}
	seen[g]++
	return seen[g] <= rule.Keep, name + ": " + rule.count(it.Phase, seen[g])
}

// count words the place of an item in its group.
func (r Rule) count(phase string, n int) string {
	text := r.String()
	if r.PerPhase {
		text += " (" + phaseName(phase) + ")"
	}
	if n <= r.Keep {
		return fmt.Sprintf("%s: %d of %d", text, n, r.Keep)
	}
	return fmt.Sprintf("%s: number %d", text, n)
}

func phaseName(phase string) string {
	if phase == "" {
		return "no phase"
	}
	return printable(phase)
}

// printable keeps control characters out of rules: records come from remotes,
// and rules go to terminals.
func printable(s string) string {
	for _, r := range s {
		if !strconv.IsPrint(r) || r == '\uFFFD' {
			return strconv.QuoteToGraphic(s)
		}
	}
	return s
}
