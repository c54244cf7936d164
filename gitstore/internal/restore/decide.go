package restore

import (
	"cmp"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/internal/contents"

	"github.com/go-git/go-git/v5/plumbing"
)

// Versions of files, of package contents.
type (
	Side   = contents.Side
	Stages = contents.Stages
)

type version struct {
	Index Stages     `json:"index"`
	Work  Side       `json:"work,omitzero"` // file after git's clean filters
	Disk  fileOnDisk `json:"disk,omitzero"` // raw file
}

// A Target is what a restore wants of a path.
type Target struct {
	contents.Target
	session string          // another session in this worktree changed the path, or ""
	later   bool            // came after the checkpoint, to be removed
	clean   bool            // as in HEAD at the save
	oldPath string          // path at the save, if a commit since has renamed the file, or ""
	choice  Changed         // choice for this path, "" uses the request's default
	kept    []plumbing.Hash // of the files of a step, which may have been set aside: see unread
	now     state

	file  versions[Side]   // without want, headThen and now
	entry versions[Stages] // likewise
}

// from returns the path at the save.
func (t *Target) from() string { return cmp.Or(t.oldPath, t.Path) }

func (t *Target) versions() (file versions[Side], entry versions[Stages]) {
	file, entry = t.file, t.entry
	file.want, file.headThen, file.now = t.WorkWant, t.WorkBase, t.now.Work
	entry.want, entry.headThen, entry.now = t.IndexWant, t.IndexBase, t.now.Index
	file.session, entry.session = t.session != "", t.session != ""
	file.renamed, entry.renamed = t.oldPath != "", t.oldPath != ""
	return file, entry
}

// A state is the current state of a path.
type state struct {
	version
	sparse     bool // excluded from the worktree by sparse checkout
	assume     bool // git update-index --assume-unchanged
	unreadable bool
	ignored    bool // git neither tracks the file nor lists it as untracked
	// Paths that block a file here unless they are removed too. above is a file or symlink
	// in place of a parent directory, or a file whose name has another case. inside lists
	// files in a directory in place of the file. indexAbove and indexInside are such paths of the index.
	above, indexAbove   string
	closed              bool // indexAbove blocks worktree files too, for example a submodule
	inside, indexInside []string
	folded              string // path without case if git ignores case here, or ""
	blockage            string // error that prevents any step, or ""
	foreign             string // repository inside the worktree that contains the path, or ""
	made                string // topmost missing parent directory
}

// Changed is the choice for a file that differs both from HEAD at the save and from the
// checkpoint.
type Changed string

// The choices; Mine is the default.
const (
	Mine           Changed = "mine"       // keep the current file
	FromCheckpoint Changed = "checkpoint" // replace it by the checkpoint's file
	Merged         Changed = "merge"      // combine both with git merge-file
)

// ParseChanged parses a choice.
func ParseChanged(s string) (Changed, error) {
	c := Changed(s)
	if !slices.Contains([]Changed{"", Mine, FromCheckpoint, Merged}, c) {
		return "", fmt.Errorf("%q: want mine, checkpoint or merge", s)
	}
	return c, nil
}

// A Step changes one path from the version Before to the version After. The entry of an operation stores
// the exported fields. An undo takes the inverted step.
type Step struct {
	Path   string  `json:"path"`            // quoted in the entry as git quotes it, unless it is UTF-8
	Index  bool    `json:"index,omitempty"` // the index entry changes
	Work   bool    `json:"work,omitempty"`  // the worktree file changes
	Before version `json:"before"`
	After  version `json:"after"`          // of a restore, Disk is that of the prepared file
	Made   string  `json:"made,omitempty"` // topmost parent directory that a restore makes for the file, "." without one
	Sparse bool    `json:"sparse,omitempty"`
	Assume bool    `json:"assume_unchanged,omitempty"`

	at        *state // at the decision
	of        *Step  // of the entry, for a step of an undo or a redo
	left      bool   // an undo or a redo leaves the path
	merge     bool   // After.Work is replaced by a merge of Before.Work, base and After.Work
	onlyClean bool   // a merge with conflicts leaves the file as it is
	fitting   bool   // and then only the worktree has changed it
	staged    bool   // the result of a merge without conflicts is staged too
	base      Side
}

func (st Step) creates() bool { return st.Work && st.After.Work != Side{} }

func (st Step) removes() bool { return st.Work && st.After.Work == Side{} }

// entry returns the index entries after the step.
func (st Step) entry() Stages {
	if st.Index {
		return st.After.Index
	}
	return st.Before.Index
}

// deletes reports whether the step deletes the file, or the index entry of a path without
// a file. For a restore of the index alone, no path has a file.
func (st Step) deletes() bool {
	return st.removes() || !st.Work && st.Before.Work == Side{} && st.entry() == Stages{}
}

func inverted(steps []Step) []Step {
	steps = slices.Clone(steps)
	for i := range steps {
		steps[i].Before, steps[i].After = steps[i].After, steps[i].Before
	}
	return steps
}

// A decision has the steps of a restore, and an Outcome without Restored and Removed.
type decision struct {
	Outcome
	steps    []Step
	unmerged bool     // files with conflicts become unmerged index entries
	open     []string // more paths on which the worktree does not agree with the checkpoint
}

// decide returns steps for all targets, based on the current state of each path. It is a pure
// function.
func decide(targets []Target, c choices) decision {
	var d decision
	for i := range targets {
		d.add(&targets[i], c)
	}
	d.fit()
	return d
}

// add decides about one path. The entry of a path is written only if its file is written, or is as
// in the checkpoint.
func (d *decision) add(t *Target, c choices) {
	c.choice = cmp.Or(t.choice, c.choice)
	s := &t.now
	file, entry := t.versions()
	st := Step{Path: t.Path, Before: s.version, After: version{Index: t.IndexWant, Work: t.WorkWant}, Sparse: s.sparse, Assume: s.assume, at: s}
	act, staged := nothing, nothing
	switch {
	case t.Work && s.sparse && s.Work != t.WorkWant:
		d.Sparse = append(d.Sparse, t.Path)
	case t.Work:
		act, st.base = file.plan(c)
	}
	if act == edited && c.back {
		act = changed // the person asked for the checkpoint's version
	}
	if t.Index {
		if staged, _ = entry.plan(c); staged == merge || staged == mergeFitting {
			staged = changed
		}
	}
	if t.later && (act != nothing || staged != nothing) {
		d.Later = append(d.Later, t.Path)
	}
	isMerge := act == merge || act == mergeFitting
	isOpen := act == write || isMerge || act == changed
	isBlocked := s.blockage != "" || s.unreadable && !c.force && c.choice != FromCheckpoint
	switch {
	case isOpen && isBlocked && t.WorkWant != (Side{}):
		d.InTheWay = append(d.InTheWay, t.Path)
		if s.foreign != "" {
			d.Foreign = append(d.Foreign, s.foreign)
		}
		return
	case isOpen && isBlocked: // a file that the checkpoint does not have is in nobody's way
		if !t.later { // Outcome.Later names it
			d.Skipped = append(d.Skipped, t.Path)
		}
		return
	case isOpen && t.isUntracked() && file.position(c.back) == unknown && !c.force:
		d.InTheWay, d.Unknown = append(d.InTheWay, t.Path), true
		return
	case act != nothing && act != write && !isMerge:
		d.leave(t, act, c)
		return
	case !isMerge && (staged == edited || staged == changed), !t.Work && staged != nothing && staged != write:
		if act != nothing {
			d.open = append(d.open, t.Path) // its file is not written
		}
		d.leave(t, staged, c)
		return
	}
	st.Index, st.Work = staged == write, act != nothing
	if isMerge {
		isText := s.Work.IsRegular() && t.WorkWant.IsRegular() && (st.base.IsRegular() || st.base == Side{} && c.choice == Merged)
		if !isText {
			d.leave(t, map[bool]action{true: edited, false: changed}[act == mergeFitting], c)
			return
		}
		st.merge, st.Index, st.onlyClean, st.fitting = true, false, c.choice == "" || act == mergeFitting, act == mergeFitting
		st.staged = t.Index && t.IndexWant == contents.Merged(t.WorkWant) && s.Index == contents.Merged(s.Work)
	}
	switch {
	case !st.Work:
		st.After.Work = s.Work
	case st.creates():
		st.Made = cmp.Or(s.made, ".")
	}
	if st.Index || st.Work {
		d.steps = append(d.steps, st)
	}
}

// isUntracked reports whether git does not track the file at a path that the checkpoint has in the
// index.
func (t *Target) isUntracked() bool {
	isUnknown := t.Index && (t.now.Index == Stages{} || t.now.Index[0] == contents.Intended)
	was := t.IndexWant == (Stages{}) && t.IndexBase == (Stages{}) && t.WorkWant != (Side{})
	return isUnknown && !was && !t.later && t.Work && t.now.Work != Side{} && t.now.Work != t.WorkWant && t.now.Work != t.WorkBase
}

// leave lists a path that stays as it is. Outcome.Later names the files that came later.
func (d *decision) leave(t *Target, a action, c choices) {
	if a.leavesOpen(c.back) {
		d.open = append(d.open, t.Path)
	}
	switch {
	case a == others:
		d.Others = append(d.Others, t.Path)
	case a == superseded, a == landed && c.back:
		d.Committed = append(d.Committed, t.Path)
	case a == landed, a == unproven, t.later:
	case a == notCaptured, a == edited && !c.back:
		d.Unsaved = append(d.Unsaved, t.Path)
	default:
		if d.Skipped = append(d.Skipped, t.Path); a == held {
			d.Committed = append(d.Committed, t.Path)
		}
	}
}

// fit moves blocked steps to inTheWay: a file can replace neither a remaining directory
// nor a remaining parent file. A skipped step may block other steps, so fit repeats until
// every remaining step fits.
func (d *decision) fit() {
	for {
		leaves, unstaged := map[string]bool{}, map[string]bool{}
		for _, st := range d.steps {
			leaves[st.Path] = st.removes()
			unstaged[st.Path] = st.Index && st.After.Index[0] == Side{}
		}
		n := len(d.steps)
		d.steps = slices.DeleteFunc(d.steps, func(st Step) bool {
			if st.fits(leaves, unstaged) {
				return false
			}
			d.InTheWay = append(d.InTheWay, st.Path)
			return true
		})
		if len(d.steps) == n {
			d.fitFolded()
		}
		if len(d.steps) == n {
			slices.Sort(d.InTheWay)
			return
		}
	}
}

// fitFolded moves a step that creates a file to inTheWay if another step creates a file with
// the same name in another case. A step for an existing file, or else the first step, stays.
func (d *decision) fitFolded() {
	creator := map[string]string{}
	for _, existing := range []bool{true, false} {
		for _, st := range d.steps {
			key := st.at.folded
			if key != "" && st.creates() && creator[key] == "" && existing == (st.Before.Disk.Mode != 0) {
				creator[key] = st.Path
			}
		}
	}
	d.steps = slices.DeleteFunc(d.steps, func(st Step) bool {
		if !st.creates() || st.at.folded == "" || creator[st.at.folded] == st.Path {
			return false
		}
		d.InTheWay = append(d.InTheWay, st.Path)
		return true
	})
}

func (st Step) fits(leaves, unstaged map[string]bool) bool {
	free := func(above string, inside []string, goes map[string]bool) bool {
		stays := func(path string) bool { return !goes[path] }
		return (above == "" || goes[above]) && !slices.ContainsFunc(inside, stays)
	}
	enters := st.Index && st.After.Index[0] != Side{}
	open := !st.at.closed || free(st.at.indexAbove, nil, unstaged)
	return (!st.creates() || open && free(st.at.above, st.at.inside, leaves)) &&
		(!enters || free(st.at.indexAbove, st.at.indexInside, unstaged))
}
