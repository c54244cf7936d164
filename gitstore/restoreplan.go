package gitstore

import (
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// A side is a file as one place has it: its mode and its blob. The zero side
// says that the file is not there.
type side struct {
	mode uint32
	hash plumbing.Hash
}

// stages is what the staging area holds of a path: stage 0, or the stages 1
// to 3 of an unmerged path.
type stages [4]side

func merged(s side) stages { return stages{s} }

// A target is what a checkpoint wants of one path: what the path was at HEAD
// when it was saved, and what it was in the snapshot.
type target struct {
	path       string
	index      bool // the staging area is wanted too
	work       bool // the worktree is wanted too
	indexBase  stages
	indexWant  stages
	workBase   side
	workWant   side
	intentOnly bool // was marked with git add -N
}

// A state is what a path is now.
type state struct {
	index    stages
	work     side
	raw      plumbing.Hash // of the file's bytes as they stand, before filters
	sparse   bool          // left out of the worktree by sparse checkout
	blockage string        // why the file cannot be reached, "" when it can
}

// Changed says what becomes of a file that is neither what it was at HEAD when
// the checkpoint was saved nor what the checkpoint has.
type Changed string

// The choices; Mine is the default.
const (
	Mine           Changed = "mine"       // it stays as it is
	FromCheckpoint Changed = "checkpoint" // the checkpoint's takes its place
	Merged         Changed = "merge"      // both go into it, with git merge-file
)

// ParseChanged reads a choice.
func ParseChanged(s string) (Changed, error) {
	c := Changed(s)
	if !slices.Contains([]Changed{"", Mine, FromCheckpoint, Merged}, c) {
		return "", fmt.Errorf("%q: want mine, checkpoint or merge", s)
	}
	return c, nil
}

// A step is what a restore does to one path.
type step struct {
	path        string
	index, work bool // which of the two are written
	before      state
	indexAfter  stages
	workAfter   side
	merge       bool // workAfter comes out of a merge with base and theirs
	base        side
	intentOnly  bool
}

// A restorePlan is what a restore will do, and what it leaves alone.
type restorePlan struct {
	steps    []step
	changed  []string // left as they are, since both sides changed them
	inTheWay []string // files that nobody tracks where a file should go
}

// planRestore decides for every target from what its path is now. It is pure.
func planRestore(targets []target, now func(string) state, choice Changed, force bool) restorePlan {
	var p restorePlan
	for _, t := range targets {
		s := now(t.path)
		st := step{path: t.path, before: s, indexAfter: t.indexWant, workAfter: t.workWant, base: t.workBase, intentOnly: t.intentOnly}
		st.index = t.index && s.index != t.indexWant
		st.work = t.work && s.work != t.workWant && !s.sparse
		if !st.index && !st.work {
			continue
		}
		switch {
		case s.blockage != "":
			p.inTheWay = append(p.inTheWay, t.path)
		case !t.conflicts(s):
			p.steps = append(p.steps, st)
		case t.overwritesUnknown(s) && !force:
			p.inTheWay = append(p.inTheWay, t.path)
		case choice == FromCheckpoint || force:
			p.steps = append(p.steps, st)
		case choice == Merged && t.mergeable(s):
			st.merge = true
			p.steps = append(p.steps, st)
		default:
			p.changed = append(p.changed, t.path)
		}
	}
	return p
}

// conflicts reports whether the path was changed by someone else: on a side
// that is wanted it is neither what it was nor what it should be.
func (t target) conflicts(s state) bool {
	index := t.index && s.index != t.indexWant && s.index != t.indexBase
	work := t.work && !s.sparse && s.work != t.workWant && s.work != t.workBase
	return index || work
}

// overwritesUnknown reports whether a file would be lost that git does not
// know: it is in the worktree and not in the staging area.
func (t target) overwritesUnknown(s state) bool {
	return s.index == stages{} && s.work != side{} && s.work != t.workWant && s.work != t.workBase
}

// mergeable reports whether three regular files stand against each other.
func (t target) mergeable(s state) bool {
	for _, f := range []side{s.work, t.workWant, t.workBase} {
		if f.mode != modeFile && f.mode != modeExec {
			return false
		}
	}
	return true
}
