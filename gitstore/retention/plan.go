package retention

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"time"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/failure"
)

// Item is the input of Plan for one checkpoint.
type Item struct {
	ID        checkpoint.ID
	Trigger   checkpoint.Trigger
	Phase     string
	Branch    string    // branch at the time of the save, "" for a detached HEAD
	Created   time.Time // commit time, zero if unknown
	Clock     checkpoint.Clock
	Pinned    bool
	Resumable bool // can_resume of the record
	Valid     bool // record is readable and valid
	Restored  bool // a person went back to it, and the work goes on from it
}

// Decision is the result for one checkpoint, with the decisive rule.
type Decision struct {
	ID    checkpoint.ID `json:"checkpoint_id" empty:"null"`
	Keep  bool          `json:"keep"`
	Rule  string        `json:"rule"`
	Doubt string        // why the age of a kept checkpoint is in doubt, or ""
}

// Plan returns one decision per item of a chain, newest first. Plan does not modify the
// items and ignores their times.
func Plan(p Policy, newestFirst []Item) []Decision {
	ds := make([]Decision, len(newestFirst))
	// A resume with fallback picks this checkpoint.
	resume := slices.IndexFunc(newestFirst, func(it Item) bool { return it.Valid && it.Resumable })
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

// PlanSave is Plan for a save: newestFirst[0] is the new checkpoint. A save never drops
// checkpoints of other branches, because their files are not in the saved worktree.
func PlanSave(p Policy, newestFirst []Item) []Decision {
	ds := Plan(p, newestFirst)
	for i, it := range newestFirst {
		if it.Branch != newestFirst[0].Branch && !ds[i].Keep {
			ds[i].Keep, ds[i].Rule = true, "of another branch: kept by a save"
		}
	}
	return ds
}

// KeepWork keeps a dropped checkpoint if no newer kept checkpoint covers its uncommitted files.
// covers(newer, older) reports whether the newer item has the work of the older item.
// Candidates are kept items of the same branch: the newest item, and items with the same
// trigger. A rule with Keep 0 still drops all checkpoints of its trigger.
func KeepWork(p Policy, newestFirst []Item, ds []Decision, covers func(newer, older int) bool) []Decision {
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

// protected returns the reason that overrides every policy, "" if no reason applies.
func protected(it Item, i, resume int) string {
	switch {
	case i == 0:
		return "tip: always kept"
	case i == resume:
		return "newest that can be resumed: always kept"
	case it.Pinned:
		return "pinned: always kept"
	case it.Restored:
		return "a person went back to it: always kept"
	}
	return ""
}

// group is the unit in which a rule counts checkpoints.
type group struct {
	trigger checkpoint.Trigger
	branch  string
	phase   string
}

// judge applies the rule of the trigger and increments the count of the item's group.
func (p Policy) judge(it Item, seen map[group]int) (bool, string) {
	name := failure.Printable(string(it.Trigger))
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

// count describes the position of an item in its group.
func (r Rule) count(phase string, n int) string {
	text := r.String()
	if r.PerPhase {
		text += " (" + cmp.Or(failure.Printable(phase), "no phase") + ")"
	}
	if n <= r.Keep {
		return fmt.Sprintf("%s: %d of %d", text, n, r.Keep)
	}
	return fmt.Sprintf("%s: number %d", text, n)
}

// PlanID returns eight hex digits of a digest over all decisions: id, keep and rule, in
// order. A saved, dropped or pinned checkpoint changes the id, and so does a new policy.
// So a stale plan is not executed. The planning time does not affect the id.
func PlanID(ds []Decision) string {
	h := sha256.New()
	for _, d := range ds {
		// Length prefixes separate the fields.
		for _, s := range []string{string(d.ID), strconv.FormatBool(d.Keep), d.Rule} {
			h.Write([]byte(strconv.Itoa(len(s)) + ":" + s))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
}

// Warnings returns, in sorted order, warnings about unknown triggers. An unknown trigger
// without a rule keeps all its checkpoints. A rule for an unknown trigger without
// checkpoints is probably a typo.
func Warnings(p Policy, items []Item) []string {
	found := map[checkpoint.Trigger]int{}
	for _, it := range items {
		if !it.Trigger.Known() {
			found[it.Trigger]++
		}
	}
	var out []string
	for t, n := range found {
		if _, ok := p[t]; !ok {
			out = append(out, fmt.Sprintf("trigger %s is unknown: all its checkpoints are kept (%d)", failure.Printable(string(t)), n))
		}
	}
	for t := range p {
		if !t.Known() && found[t] == 0 {
			out = append(out, fmt.Sprintf("trigger %s is unknown, and no checkpoint has it: its rule does nothing", failure.Printable(string(t))))
		}
	}
	slices.Sort(out)
	return out
}
