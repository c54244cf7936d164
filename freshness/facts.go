package freshness

import (
	"slices"
	"time"

	"git-checkpoint/gitstore/checkpoint/story"
	"git-checkpoint/gitstore/checkpoint/tasks"
)

// Facts describes the current state, gathered by the caller. Facts missing from the zero
// value are reported as not checked.
type Facts struct {
	Now      time.Time
	Commit   string // the checkpoint's commit, for hints
	Name     string // name of the issue that has the checkpoint, for hints
	Branch   Branch
	Head     Head
	Base     Base
	Issue    *SourceIssue
	NoIssue  string // reason that Issue is nil, "" if no comparison was requested
	Files    Files
	Outputs  Outputs
	Plan     Plan
	NoSource bool   // NoIssue states that no source is configured: no warning if the record has no body and no labels
	Resumes  int    // resumes of this checkpoint in this clone since the last save
	By       string // the command that continues the work, "" if unknown

	Next  Next                   // next step of a foreign workflow, based on existing files
	Tasks map[string]tasks.Found // state of the output files of running tasks

	Stories []story.Standing // stories of a lead, whose record has their joined states

	Approved []string // phases approved by the user with this command
	Findings []Reason // findings of checks that only the caller can make
}

// BranchState is the current state of the checkpoint's branch.
type BranchState int

// The states of a branch.
const (
	BranchUnchecked BranchState = iota
	BranchExists
	BranchGone     // existed in this clone, deleted since here and at every known remote
	BranchRemote   // existed in this clone, and a remote still has it
	BranchUnseen   // never seen in this clone
	BranchRenamed  // renamed
	BranchReplaced // replaced by a branch that the user named
	BranchOther    // HEAD is on another branch
)

// Branch describes the branch of the checkpoint.
type Branch struct {
	State  BranchState
	Remote string // remote-tracking branch of the same name, such as origin/fix, or ""
	At     string // remote that has the branch, if no remote-tracking branch is known, or ""
	Name   string // new name if renamed, branch to use if replaced, or HEAD's branch for BranchOther
	Exists bool   // for BranchOther: the checkpoint's branch exists
	Became string // for BranchOther: new name of the checkpoint's branch
	Place  string // path of the worktree that has the branch checked out, or ""
	Merged string // for BranchGone: the branch that has the whole state of the checkpoint, or ""
	Why    string // reason for an unchecked state
}

// IsElsewhere reports whether HEAD is on another branch than the checkpoint's, and this clone
// does not have the checkpoint's branch.
func (b Branch) IsElsewhere() bool { return b.State == BranchOther && !b.Exists && b.Became == "" }

// HeadState relates HEAD to the checkpoint's HEAD.
type HeadState int

// The relations of the current HEAD to HEAD at the save.
const (
	HeadUnchecked HeadState = iota
	HeadSame
	HeadMovedOn  // descends from the checkpoint's HEAD
	HeadDiverged // both have commits since their common ancestor, as after a rebase or an amend
	HeadApart    // neither of these; see Head.Base
	HeadUnknown  // another commit, and this clone lacks the history to compare them
)

// Head compares HEAD at the save with the current HEAD. Saved or Now is "" on an unborn
// branch.
type Head struct {
	State      HeadState
	Saved, Now string
	Ahead      int    // commits since the checkpoint, 0 if not counted
	Why        string // reason for an unchecked state

	// Fields for HeadDiverged and HeadApart:
	Base string // best merge base, "" if unrelated
	Gone int    // commits of the checkpoint's HEAD missing from HEAD

	Home     string // the checkpoint's branch, if it descends from the checkpoint's HEAD and HEAD is on another branch
	Worktree string // path of the worktree that has Home checked out, or ""
}

// Base is the branch that the work will be merged into. An empty name means no base.
type Base struct {
	Name   string
	Behind int // commits of the base missing from HEAD
}

// Files compares the paths of files_modified with the snapshot.
type Files struct {
	Checked  bool
	Changed  []string // since the checkpoint
	InTheWay []string // untracked files of Changed, which no choice replaces
	Restores []string // files that a resume puts back
	Unsaved  []string // files outside of the checkpoint that changed or came since, which a restore keeps
	Damaged  string   // content of the checkpoint that is missing or damaged, so that a restore fails
	Why      string   // reason for unchecked files
}

// Outputs reports missing files that the record refers to, and files that differ from
// their recorded digest.
type Outputs struct {
	Checked bool
	Missing []string
	Changed []string
	Why     string // reason for unchecked files
}

// Plan compares the plan file with its digest in the record. A plan without a digest is
// not compared.
type Plan struct {
	Changed bool   // changed or deleted
	Why     string // reason for an unchecked plan, "" if checked or not needed
}

// SourceIssue is the current issue of an issue source.
type SourceIssue struct {
	Title, Body string
	Labels      []string
	Assignees   []string
	State       string   // open, closed, or "" if unknown
	Source      string   // origin, such as a file path
	Absent      []string // missing fields: title, body, labels, assignees, state
}

// Has reports whether the source has the field.
func (i *SourceIssue) Has(field string) bool { return i != nil && !slices.Contains(i.Absent, field) }

// Next is the next step of another system's workflow, derived from existing files:
// action, phase and reason. The zero Next means no such workflow.
type Next struct{ Action, Phase, Why string }
