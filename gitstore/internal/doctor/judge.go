package doctor

import (
	"fmt"
	"time"
)

// Facts describes the state of a repository.
type Facts struct {
	Now     time.Time
	Files   []LeftFile
	Refs    []Ref
	Ahead   []Ahead
	Both    []Both
	Pending []string // worktrees with an interrupted restore
	Objects ObjectCounts
	Config  []GitSetting
	Git     [2]int // git version, such as {2, 54}
}

// A Finding is one problem.
type Finding struct {
	Error bool // error if set, otherwise a warning
	Text  string
	Mend  *Mend // nil if the user has to decide
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

// A Mend describes the repair of a Finding.
type Mend struct {
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
	for _, judge := range []func(Facts) []Finding{judgeLocks, judgeRefs, judgePending, judgeTemporary, judgeBoth, judgeAhead, judgeObjects, judgeGit, judgeConfig} {
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

// mended returns the finding with a repair.
func (f Finding) mended(m Mend) Finding {
	f.Mend = &m
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
