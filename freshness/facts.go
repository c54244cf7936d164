package freshness

import (
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint/tasks"
)

// Facts is what is true now, gathered by the caller. In its zero value nothing
// is known, so that a fact that was forgotten shows as not checked.
type Facts struct {
	Now     time.Time
	Commit  string // the checkpoint's commit, for hints
	Name    string // of the issue that the checkpoint is found by, for hints
	Branch  Branch
	Head    Head
	Base    Base
	Issue   *SourceIssue
	NoIssue string // why Issue is nil, "" where nobody wants it compared
	Files   Files
	Outputs Outputs
	Plan    Plan
	Fuller  string // an older checkpoint of the branch that lacks no file, "" for none
	Resumes int    // of this checkpoint here, without a save since
	By      string // the command that goes on with the work, "" where that is not known

	Next  Next                   // how the work goes on by the files that are there
	Tasks map[string]tasks.Found // what is at the places of running tasks' outputs

	Approvals []string // phases whose approval is pending, beside those in the record
	Approved  []string // phases that a person approved just now
	Findings  []Reason // of checks that only the caller can make
}

// BranchState says what became of the checkpoint's branch.
type BranchState int

// The states of a branch.
const (
	BranchUnchecked BranchState = iota
	BranchExists
	BranchGone     // this clone or the upstream had it, and has it no more
	BranchUnseen   // never seen here
	BranchRenamed  // it has another name now
	BranchReplaced // a person named another one to go on with
	BranchOther    // HEAD is on another one
)

// Branch is the branch that the checkpoint was saved on.
type Branch struct {
	State  BranchState
	Remote string // the branch of that name on a remote, as in origin/fix, if there is one
	Name   string // of the branch that it is now, if it was renamed or replaced, or that HEAD is on
	Exists bool   // for BranchOther: the checkpoint's branch is here
	Became string // for BranchOther: the branch that the checkpoint's was renamed to
	Place  string // the worktree in which the branch is checked out, "" for none
	Why    string // why it is unchecked
}

// HeadState relates HEAD to the checkpoint's.
type HeadState int

// The relations of HEAD now to HEAD at the save.
const (
	HeadUnchecked HeadState = iota
	HeadSame
	HeadMovedOn // descends from the checkpoint's
	HeadRebased // does not: see Head.Base
)

// Head compares HEAD at the save with HEAD now. Saved or Now is "" where there
// was no commit yet.
type Head struct {
	State      HeadState
	Saved, Now string
	Ahead      int    // commits since, 0 when not counted
	Why        string // why it is unchecked

	// For HeadRebased:
	Base  string // the best common commit, "" when there is none
	Gone  int    // commits of the checkpoint's HEAD that HEAD does not have
	Alike int    // of these, how many HEAD has with the same changes

	Home     string // the checkpoint's branch, where HEAD is not on it and it descends
	Worktree string // where Home is checked out, "" for nowhere
}

// Base is the branch that the work will go into. Without a name there is none.
type Base struct {
	Name   string
	Behind int // its commits that HEAD does not have
}

// Files compares the paths of files_modified with the snapshot.
type Files struct {
	Checked  bool
	Changed  []string
	InTheWay []string // of Changed, those that git does not know: they stay
	Why      string   // why they are unchecked
}

// Outputs looks for the files that the record refers to, and at what is in
// those whose digest it has.
type Outputs struct {
	Checked bool
	Missing []string
	Changed []string
	Why     string // why they are unchecked
}

// Plan compares the plan's file with its digest in the record. Without one
// there is nothing to compare.
type Plan struct {
	Changed bool   // or gone
	Why     string // why it is unchecked, "" where it was or need not be
}

// SourceIssue is an issue as a source has it now.
type SourceIssue struct {
	Title, Body string
	Labels      []string
	Assignees   []string
	State       string   // open, closed, or "" where the source does not say
	Source      string   // where it comes from, such as a file's path
	Absent      []string // which of title, body, labels, assignees, state the source does not have
}

// Has reports whether the source has the field.
func (i *SourceIssue) Has(field string) bool { return i != nil && !slices.Contains(i.Absent, field) }

// Next is how work of another system goes on by the files that are there: what
// to do, in which phase, and why. The zero Next is work of no such system.
type Next struct{ Action, Phase, Why string }
