// Package health judges what lies around the chains of a repository: locks and
// temporary files of processes that are gone, refs that lead nowhere, safety
// snapshots that have expired, clocks that run ahead, settings of git that
// work against checkpoints.
//
// The judges are pure functions over Facts; of these, Folders finds those that
// are files, and takes them away. What a Finding says can be mended is safe to
// mend: nothing that could still be read is lost by it, and nobody who is still
// at work is disturbed.
package health

import (
	"fmt"
	"time"
)

// Facts are what was found in a repository.
type Facts struct {
	Now     time.Time
	Files   []LeftFile
	Refs    []Ref
	Ahead   []Ahead
	Both    []Both
	Pending []string // what restores that were interrupted left, by their worktrees
	Objects ObjectCounts
	Config  []GitSetting
	Git     [2]int // its version, as {2, 54}
}

// A Finding is one thing that is not as it should be.
type Finding struct {
	Error bool // it breaks something; else it is a warning
	Text  string
	Mend  *Mend // nil where only a person can tell what to do
}

// An Act is a way to mend something.
type Act int

// The ways to mend something.
const (
	RemoveFiles  Act = iota // Names are files
	DeleteRefs              // they go, if they are still at Values
	SetRef                  // it goes To where it last was sound
	SetAside                // what it holds is kept in a file, and it goes
	BringBack               // what other means took from the issue To comes back
	ClearArchive            // what the chain of the issue To has leaves its archive
)

// A Mend says how to mend a Finding.
type Mend struct {
	Act   Act
	Names []string // files, or refs
	From  string   // what the ref holds, "" where that is no object's name
	To    string
	Said  string // what was done, in words

	Values []string  // what the refs of DeleteRefs hold
	Until  time.Time // of files: one that was written later is somebody else's
}

// Judge says what is wrong, errors first.
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

// mended is a finding with its remedy.
func (f Finding) mended(m Mend) Finding {
	f.Mend = &m
	return f
}

// age is a duration in words.
func age(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours())/24)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", int(d.Hours()))
	}
	return fmt.Sprintf("%d minutes", int(d.Minutes()))
}
