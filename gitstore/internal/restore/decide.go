package restore

import (
	"cmp"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Side is a file as one place has it: its mode and its blob. The zero Side
// says that the file is not there.
type Side struct {
	Mode uint32
	Hash plumbing.Hash
}

// Stages is what the staging area holds of a path: stage 0, or the stages 1
// to 3 of an unmerged path.
type Stages [4]Side

func merged(s Side) Stages { return Stages{s} }

// intended is the stage 0 of a path that was marked with git add -N: known,
// with nothing staged.
var intended = Side{Mode: modeIntent}

// modeIntent is no mode of git's.
const modeIntent = 1

// A Target is what a checkpoint wants of one path: what the path was at HEAD
// when it was saved, and what it was in the snapshot.
type Target struct {
	Path      string
	Index     bool    // the staging area is wanted too
	Work      bool    // the worktree is wanted too
	any       bool    // whatever is there may go
	later     bool    // it came after the checkpoint, which wants it away
	touched   bool    // a commit since the checkpoint has changed it
	choice    Changed // for this path alone, "" for the one for all
	captured  bool    // the worktree's own file was saved, not what was staged for it
	IndexBase Stages
	IndexWant Stages
	WorkBase  Side
	WorkWant  Side
}

// A state is what a path is now.
type state struct {
	index  Stages
	sparse bool       // left out of the worktree by sparse checkout
	assume bool       // git update-index --assume-unchanged
	work   Side       // as git would add it
	disk   fileOnDisk // as it stands
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

// A Step is what a restore does to one path.
type Step struct {
	path        string
	index, work bool // which of the two are written
	before      state
	indexAfter  Stages
	workAfter   Side
	diskAfter   fileOnDisk // what git's filters make of workAfter
	merge       bool       // workAfter comes out of a merge with base and theirs
	base        Side
}

func (st Step) creates() bool { return st.work && st.workAfter != Side{} }
func (st Step) removes() bool { return st.work && st.workAfter == Side{} }

// A decision is what a restore will do, and what it leaves alone.
type decision struct {
	steps    []Step
	changed  []string // left as they are, since both sides changed them
	inTheWay []string // something that stays is where a file should go
}

// decide judges every target by what its path is now. A path that
// was changed on one side, staging area or worktree, is left alone on both.
// It is pure.
func decide(targets []Target, now func(string) state, choice Changed, force bool) decision {
	var d decision
	for _, t := range targets {
		s := now(t.Path)
		st := Step{path: t.Path, before: s, indexAfter: t.IndexWant, workAfter: t.WorkWant, base: t.WorkBase}
		st.work = t.Work && s.work != t.WorkWant && !s.sparse
		st.index = t.Index && s.index != t.IndexWant
		if t.IndexWant[0] == intended && !st.creates() && s.work == (Side{}) {
			st.index = false // git add -N takes a file that is there
		}
		if !st.index && !st.work {
			continue
		}
		choice := cmp.Or(t.choice, choice)
		switch {
		case st.work && s.blockage != "":
			d.inTheWay = append(d.inTheWay, t.Path)
		case !t.conflicts(s):
			d.steps = append(d.steps, st)
		case t.overwritesUnknown(s) && !force:
			d.inTheWay = append(d.inTheWay, t.Path)
		case choice == FromCheckpoint || force:
			d.steps = append(d.steps, st)
		case choice == Merged && st.work && t.mergeable(s):
			st.merge, st.index = true, false
			d.steps = append(d.steps, st)
		default:
			d.changed = append(d.changed, t.Path)
		}
	}
	d.fit()
	return d
}

// conflicts reports whether the path was changed by someone else. That is so if a
// commit has touched it, or if a side that is wanted has neither the old content
// nor the checkpoint's.
func (t Target) conflicts(s state) bool {
	if t.any || t.touched {
		return t.touched
	}
	index := t.Index && s.index != t.IndexWant && s.index != t.IndexBase
	work := t.Work && !s.sparse && s.work != t.WorkWant && s.work != t.WorkBase
	return index || work
}

// overwritesUnknown reports whether a file would be lost that git does not
// know: it is in the worktree and not in the staging area.
func (t Target) overwritesUnknown(s state) bool {
	unknown := s.index == Stages{} || s.index[0] == intended
	return unknown && t.Work && s.work != Side{} && s.work != t.WorkWant && s.work != t.WorkBase
}

// mergeable reports whether three regular files stand against each other.
func (t Target) mergeable(s state) bool {
	for _, f := range []Side{s.work, t.WorkWant, t.WorkBase} {
		if f.Mode != trees.ModeFile && f.Mode != trees.ModeExec {
			return false
		}
	}
	return true
}

// fit moves steps whose place is taken to inTheWay: a file cannot go where a
// directory stays, nor below a file that stays. One that does not go may be in
// the way of others, so this goes on until all the rest fit.
func (d *decision) fit() {
	for {
		leaves, unstaged := map[string]bool{}, map[string]bool{}
		for _, st := range d.steps {
			leaves[st.path] = st.removes()
			unstaged[st.path] = st.index && st.indexAfter[0] == Side{}
		}
		n := len(d.steps)
		d.steps = slices.DeleteFunc(d.steps, func(st Step) bool {
			if st.fits(leaves, unstaged) {
				return false
			}
			d.inTheWay = append(d.inTheWay, st.path)
			return true
		})
		if len(d.steps) == n {
			slices.Sort(d.inTheWay)
			return
		}
	}
}

func (st Step) fits(leaves, unstaged map[string]bool) bool {
	free := func(above string, inside []string, goes map[string]bool) bool {
		stays := func(path string) bool { return !goes[path] }
		return (above == "" || goes[above]) && !slices.ContainsFunc(inside, stays)
	}
	enters := st.index && st.indexAfter[0] != Side{}
	open := !st.before.closed || free(st.before.indexAbove, nil, unstaged)
	return (!st.creates() || open && free(st.before.above, st.before.inside, leaves)) &&
		(!enters || free(st.before.indexAbove, st.before.indexInside, unstaged))
}
