package freshness

import (
	"slices"
	"time"
)

// Facts is what is true now, gathered by the caller. In its zero value nothing
// is known, so that a fact that was forgotten shows as not checked.
type Facts struct {
	Now     time.Time
	Commit  string // the checkpoint's commit, for hints
	Branch  Branch
	Head    Head
	Base    Base
	Issue   *Issue
	NoIssue string // why Issue is nil, "" where nobody wants it compared
	Files   Files
	Outputs Outputs

	Approvals []string // phases whose approval is pending, beside those in the record
	Findings  []Reason // of checks that only the caller can make
}

// BranchState says what became of the checkpoint's branch.
type BranchState int

// The states of a branch.
const (
	BranchUnchecked BranchState = iota
	BranchExists
	BranchGone   // this clone or the upstream had it, and has it no more
	BranchUnseen // never seen here
)

// Branch is the branch that the checkpoint was saved on.
type Branch struct {
	State  BranchState
	Remote string // the branch of that name on a remote, as in origin/fix, if there is one
	Why    string // why it is unchecked
}

// HeadState relates HEAD to the checkpoint's.
type HeadState int

// The relations of HEAD now to HEAD at the save.
const (
	HeadUnchecked HeadState = iota
	HeadSame
	HeadMovedOn // descends from the checkpoint's
	HeadRebased // does not
)

// Head compares HEAD at the save with HEAD now. Saved or Now is "" where there
// was no commit yet.
type Head struct {
	State      HeadState
	Saved, Now string
	Ahead      int    // commits since, 0 when not counted
	Why        string // why it is unchecked
}

// Base is the branch that the work will go into. Without a name there is none.
type Base struct {
	Name   string
	Behind int // its commits that HEAD does not have
}

// Files compares the paths of files_modified with the snapshot.
type Files struct {
	Checked bool
	Changed []string
	Why     string // why they are unchecked
}

// Outputs looks for the files that the record refers to.
type Outputs struct {
	Checked bool
	Missing []string
	Why     string // why they are unchecked
}

// Issue is an issue as a source has it now.
type Issue struct {
	Title, Body string
	Labels      []string
	Assignees   []string
	State       string   // open, closed, or "" where the source does not say
	Source      string   // where it comes from, such as a file's path
	Absent      []string // which of title, body, labels, assignees, state the source does not have
}

// Has reports whether the source has the field.
func (i *Issue) Has(field string) bool { return i != nil && !slices.Contains(i.Absent, field) }
