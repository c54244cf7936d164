package gitstore

import (
	"fmt"
	"slices"

	"git-checkpoint/gitstore/trees"

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

// intended is the stage 0 of a path that was marked with git add -N: known,
// with nothing staged.
var intended = side{mode: modeIntent}

// modeIntent is no mode of git's.
const modeIntent = 1

// A target is what a checkpoint wants of one path: what the path was at HEAD
// when it was saved, and what it was in the snapshot.
type target struct {
	path      string
	index     bool    // the staging area is wanted too
	work      bool    // the worktree is wanted too
	any       bool    // whatever is there may go
	choice    Changed // for this path alone, "" for the one for all
	captured  bool    // the worktree's own file was saved, not what was staged for it
	indexBase stages
	indexWant stages
	workBase  side
	workWant  side
}

// A state is what a path is now.
type state struct {
	index  stages
	sparse bool // left out of the worktree by sparse checkout
	assume bool // git update-index --assume-unchanged
	work   side // as git would add it
	disk   disk // as it stands
	// What keeps a file from being put here, unless it goes as well: a file
	// or symlink where its directory should be, what is in a directory in
	// its place, and the same in the staging area.
	above, indexAbove   string
	closed              bool // indexAbove keeps files out of the worktree too: a submodule, say
	inside, indexInside []string
	blockage            string // why nothing can be done here, "" when it can
	made                string // the topmost directory that is missing above it
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
	diskAfter   disk // what git's filters make of workAfter
	merge       bool // workAfter comes out of a merge with base and theirs
	base        side
}

func (st step) creates() bool { return st.work && st.workAfter != side{} }
func (st step) removes() bool { return st.work && st.workAfter == side{} }

// A restorePlan is what a restore will do, and what it leaves alone.
type restorePlan struct {
	steps    []step
	changed  []string // left as they are, since both sides changed them
	inTheWay []string // something that stays is where a file should go
}

// planRestore decides for every target from what its path is now. A path that
// was changed on one side, staging area or worktree, is left alone on both.
// It is pure.
func planRestore(targets []target, now func(string) state, choice Changed, force bool) restorePlan {
	var p restorePlan
	for _, t := range targets {
		s := now(t.path)
		st := step{path: t.path, before: s, indexAfter: t.indexWant, workAfter: t.workWant, base: t.workBase}
		st.work = t.work && s.work != t.workWant && !s.sparse
		st.index = t.index && s.index != t.indexWant
		if t.indexWant[0] == intended && !st.creates() && s.work == (side{}) {
			st.index = false // git add -N takes a file that is there
		}
		if !st.index && !st.work {
			continue
		}
		choice := Changed(first(string(t.choice), string(choice)))
		switch {
		case st.work && s.blockage != "":
			p.inTheWay = append(p.inTheWay, t.path)
		case !t.conflicts(s):
			p.steps = append(p.steps, st)
		case t.overwritesUnknown(s) && !force:
			p.inTheWay = append(p.inTheWay, t.path)
		case choice == FromCheckpoint || force:
			p.steps = append(p.steps, st)
		case choice == Merged && st.work && t.mergeable(s):
			st.merge, st.index = true, false
			p.steps = append(p.steps, st)
		default:
			p.changed = append(p.changed, t.path)
		}
	}
	p.fit()
	return p
}

// conflicts reports whether the path was changed by someone else: on a side
// that is wanted it is neither what it was nor what it should be.
func (t target) conflicts(s state) bool {
	if t.any {
		return false
	}
	index := t.index && s.index != t.indexWant && s.index != t.indexBase
	work := t.work && !s.sparse && s.work != t.workWant && s.work != t.workBase
	return index || work
}

// overwritesUnknown reports whether a file would be lost that git does not
// know: it is in the worktree and not in the staging area.
func (t target) overwritesUnknown(s state) bool {
	unknown := s.index == stages{} || s.index[0] == intended
	return unknown && t.work && s.work != side{} && s.work != t.workWant && s.work != t.workBase
}

// mergeable reports whether three regular files stand against each other.
func (t target) mergeable(s state) bool {
	for _, f := range []side{s.work, t.workWant, t.workBase} {
		if f.mode != trees.ModeFile && f.mode != trees.ModeExec {
			return false
		}
	}
	return true
}

// fit moves steps whose place is taken to inTheWay: a file cannot go where a
// directory stays, nor below a file that stays. One that does not go may be in
// the way of others, so this goes on until all the rest fit.
func (p *restorePlan) fit() {
	for {
		leaves, unstaged := map[string]bool{}, map[string]bool{}
		for _, st := range p.steps {
			leaves[st.path] = st.removes()
			unstaged[st.path] = st.index && st.indexAfter[0] == side{}
		}
		n := len(p.steps)
		p.steps = slices.DeleteFunc(p.steps, func(st step) bool {
			if st.fits(leaves, unstaged) {
				return false
			}
			p.inTheWay = append(p.inTheWay, st.path)
			return true
		})
		if len(p.steps) == n {
			slices.Sort(p.inTheWay)
			return
		}
	}
}

func (st step) fits(leaves, unstaged map[string]bool) bool {
	free := func(above string, inside []string, goes map[string]bool) bool {
		stays := func(path string) bool { return !goes[path] }
		return (above == "" || goes[above]) && !slices.ContainsFunc(inside, stays)
	}
	enters := st.index && st.indexAfter[0] != side{}
	open := !st.before.closed || free(st.before.indexAbove, nil, unstaged)
	return (!st.creates() || open && free(st.before.above, st.before.inside, leaves)) &&
		(!enters || free(st.before.indexAbove, st.before.indexInside, unstaged))
}
