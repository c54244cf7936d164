package doctor

import (
	"fmt"
	"time"

	"git-checkpoint/gitstore/internal/git"
)

// Facts describes the state of a repository.
type Facts struct {
	Now     time.Time
	Files   []LeftFile
	Refs    []Ref
	Chains  []Finding // about the chains and archives
	Pending []string  // worktrees with an interrupted restore
	Objects ObjectCounts
	Config  []git.ConfigEntry
	Git     git.Version
}

// A Finding is one problem.
type Finding struct {
	Error bool // error if set, otherwise a warning
	Text  string
	Fix   *Fix // nil if the user has to decide
}

// An Act is a kind of repair.
type Act int

// The kinds of repair.
const (
	RemoveFiles  Act = iota // remove the files in Names
	DeleteRefs              // delete refs that still have their Values
	SetRef                  // reset the ref to To, its last valid commit
	SetAside                // save the ref's value in a file and delete the ref
	BringBack               // restore checkpoints of issue To that other tools removed
	ClearArchive            // remove checkpoints in the chain of issue To from its archive
)

// A Fix describes the repair of a Finding.
type Fix struct {
	Act   Act
	Names []string // files or refs
	From  string   // current value of the ref, "" if not an object id
	To    string
	Said  string // message after the repair

	Values []string  // expected values for DeleteRefs
	Until  time.Time // files modified after this time are kept
}

// Judge returns all findings, errors first.
func Judge(f Facts) []Finding {
	var errors, warnings []Finding
	for _, judge := range []func(Facts) []Finding{judgeLocks, judgeRefs, judgePending, judgeTemporary, func(f Facts) []Finding { return f.Chains }, judgeObjects, judgeGit, judgeConfig} {
		for _, found := range judge(f) {
			if found.Error {
				errors = append(errors, found)
			} else {
				warnings = append(warnings, found)
			}
		}
	}
	return append(errors, warnings...)
}

func warning(format string, args ...any) Finding { return Finding{Text: fmt.Sprintf(format, args...)} }

func failure(format string, args ...any) Finding {
	return Finding{Error: true, Text: fmt.Sprintf(format, args...)}
}

// withFix returns the finding with a repair.
func (f Finding) withFix(m Fix) Finding {
	f.Fix = &m
	return f
}

// age formats a duration.
func age(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours())/24)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", int(d.Hours()))
	}
	return fmt.Sprintf("%d minutes", int(d.Minutes()))
}

// A Role is the purpose of a ref.
type Role int

// The roles of refs.
const (
	Chain     Role = iota // live or archived checkpoints of users
	Own                   // last chain written by this clone, at own/
	Note                  // last known remote value, a record of a fetched chain, a line, or the files of a worktree
	Operation             // entry of an operation
	Incoming              // temporary ref of a fetch
	Strange               // ref below the chain prefixes with an invalid name
)

// A Ref is a ref of this program.
type Ref struct {
	Name  string
	Role  Role
	Value string // object id, "" if invalid
	Issue string // for Chain and Own

	Problem string // description if the ref is broken, otherwise ""
	Good    string // last valid commit, "" if unknown

	Made    time.Time // creation time from the name of Incoming refs, or zero
	Taken   bool      // for Own: the chain lacks checkpoints written by this clone
	Lasting bool      // object is missing permanently, since HEAD is readable
}

// incomingFor is the lifetime of a temporary ref of a fetch.
const incomingFor = 24 * time.Hour

// judgeRefs reports broken refs, each of which makes git gc fail.
func judgeRefs(f Facts) []Finding {
	var found []Finding
	var killed []Ref
	for _, r := range f.Refs {
		switch {
		case r.Problem != "":
			found = append(found, r.broken())
		case r.Role == Strange:
			found = append(found, warning("%s: not a valid issue key; all commands ignore it", r.Name))
		case r.Taken:
			found = append(found, warning("refs/checkpoints/%s: checkpoints of this clone were removed outside git-checkpoint", r.Issue).
				withFix(Fix{Act: BringBack, Names: []string{r.Name}, To: r.Issue, Said: "restored the checkpoints of this clone in refs/checkpoints/" + r.Issue}))
		case r.Role == Incoming && f.Now.Sub(r.Made) > incomingFor:
			killed = append(killed, r)
		}
	}
	return append(found, gone(killed, "ref", "that killed fetches left")...)
}

// gone returns one finding for all expired refs, since thousands may exist.
func gone(refs []Ref, what, why string) []Finding {
	if len(refs) == 0 {
		return nil
	}
	m := Fix{Act: DeleteRefs}
	for _, r := range refs {
		m.Names, m.Values = append(m.Names, r.Name), append(m.Values, r.Value)
	}
	text := fmt.Sprintf("%s %s: %s", plural(len(refs), what), why, some(m.Names))
	m.Said = "removed " + text
	return []Finding{warning("%s", text).withFix(m)}
}

// broken returns the finding for a broken ref. A chain is reset to its last valid commit
// if known. Otherwise the ref is set aside, but only if HEAD is readable, because a
// missing disk may return later.
func (r Ref) broken() Finding {
	f := failure("%s: %s", r.Name, r.Problem)
	fix := Fix{Names: []string{r.Name}, From: r.Value}
	switch {
	case r.Good != "" && (r.Role == Chain || r.Role == Own):
		fix.Act, fix.To, fix.Said = SetRef, r.Good, "put "+r.Name+" back to "+r.Good
	case !r.Lasting:
		return f
	default:
		fix.Act, fix.Said = SetAside, "set "+r.Name+" aside: its object is missing"
		if r.Role == Operation {
			fix.Said = "set " + r.Name + " aside: it is no operation that undo can revert"
		}
	}
	return f.withFix(fix)
}
