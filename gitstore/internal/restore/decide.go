package restore

import (
	"cmp"
	"fmt"
	"slices"

	"git-checkpoint/gitstore/internal/contents"
)

// Versions of files, of package contents.
type (
	Side   = contents.Side
	Stages = contents.Stages
)

// A Target is what a restore wants of a path.
type Target struct {
	contents.Target
	session string  // another session in this worktree changed the path, or ""
	later   bool    // came after the checkpoint, to be removed
	clean   bool    // as in HEAD at the save
	touched bool    // changed by a commit since the checkpoint
	choice  Changed // choice for this path, "" uses the request's default
}

// A state is the current state of a path.
type state struct {
	index  Stages
	sparse bool       // excluded from the worktree by sparse checkout
	assume bool       // git update-index --assume-unchanged
	work   Side       // after git's clean filters
	disk   fileOnDisk // raw content on disk
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

// A Step is a change of one path by a restore.
type Step struct {
	path        string
	index, work bool // write index entry, write worktree file
	before      state
	indexAfter  Stages
	workAfter   Side
	diskAfter   fileOnDisk // workAfter after git's smudge filters
	merge       bool       // workAfter is replaced by a merge of before.work, base and workAfter
	onlyClean   bool       // a merge with conflicts leaves the file as it is
	staged      bool       // the result of a merge without conflicts is staged too
	base        Side
}

func (st Step) creates() bool { return st.work && st.workAfter != Side{} }

func (st Step) removes() bool { return st.work && st.workAfter == Side{} }

// deletes reports whether the step deletes the file, or the index entry of a path without
// a file. For a restore of the index alone, no path has a file.
func (st Step) deletes() bool {
	work, index := st.before.work, st.before.index
	if st.work {
		work = st.workAfter
	}
	if st.index {
		index = st.indexAfter
	}
	return work == Side{} && (st.removes() || index == Stages{})
}

// Rules are the rules of a plan for all paths.
type rules struct {
	known  func(string, Side) bool // a checkpoint of the chain holds this version; nil means no
	common func(string) Side       // version from which both sides come, zero if unknown; nil means unknown
	asked  bool                    // the user asked for this checkpoint
	lost   bool                    // all files of the worktree are missing
	exact  bool                    // remove files that came later, also with unknown content
	force  bool                    // replace any content
	choice Changed
}

// A decision lists the steps of a restore, and skipped paths.
type decision struct {
	steps     []Step
	changed   []string // skipped because both sides changed them
	inTheWay  []string // skipped because of an existing file
	sparse    []string // skipped because git keeps them out of the worktree
	others    []string // skipped because another session changed them
	unsaved   []string // skipped because only the worktree changed them since the save
	unknown   bool     // untracked files are in the way, which force would overwrite
	foreign   []string // repositories that contain paths of inTheWay
	unmerged  bool     // files with conflicts become unmerged index entries
	conflicts []string // files whose merge has conflicts
}

// decide returns steps for all targets, based on the current state of each path. If index
// or worktree was changed by the user, both are skipped, unless a checkpoint holds the present
// content. decide is a pure function.
func decide(targets []Target, now func(string) state, r rules) decision {
	var d decision
	for _, t := range targets {
		s := now(t.Path)
		st := Step{path: t.Path, before: s, indexAfter: t.IndexWant, workAfter: t.WorkWant, base: t.WorkBase}
		st.work = t.Work && s.work != t.WorkWant && !s.sparse
		st.index = t.Index && s.index != t.IndexWant
		if t.Work && s.sparse && s.work != t.WorkWant {
			d.sparse = append(d.sparse, t.Path)
		}
		if st.index || st.work {
			d.add(t, s, st, r)
		}
	}
	d.fit()
	return d
}

// add decides about one path that differs from its target.
func (d *decision) add(t Target, s state, st Step, r rules) {
	choice := cmp.Or(t.choice, r.choice)
	replaces := choice == FromCheckpoint || r.force
	isUnknown := t.Index && (s.index == Stages{} || s.index[0] == contents.Intended)
	wasUntracked := t.IndexWant == (Stages{}) && t.IndexBase == (Stages{}) && t.WorkWant != (Side{})
	switch {
	case t.session != "" && choice == "" && !r.force:
		d.others = append(d.others, t.Path)
	case t.clean && !r.asked && t.isEdited(s, r):
		d.unsaved = append(d.unsaved, t.Path)
	case st.work && s.blockage != "" && s.foreign == "" && t.WorkWant == (Side{}): // in the way of no file
		if !t.later { // Outcome.Later names it
			d.changed = append(d.changed, t.Path)
		}
	case st.work && s.blockage != "":
		d.inTheWay = append(d.inTheWay, t.Path)
		if s.foreign != "" {
			d.foreign = append(d.foreign, s.foreign)
		}
	case t.later && !r.exact && (choice == Mine || !t.isHeld(s, r)): // Outcome.Later names it
	case t.later && (!t.Index || s.index[0] == contents.Intended), !t.conflicts(s), !t.touched && choice == "" && t.isKnown(s, r):
		d.steps = append(d.steps, st)
	case isUnknown && !wasUntracked && t.Work && s.work != Side{} && s.work != t.WorkWant && s.work != t.WorkBase && !r.force:
		d.inTheWay, d.unknown = append(d.inTheWay, t.Path), true
	case replaces:
		d.steps = append(d.steps, st)
	default:
		base := t.mergeBase(s, choice, r)
		if !st.work || base == nil {
			d.changed = append(d.changed, t.Path)
			return
		}
		st.merge, st.index, st.base, st.onlyClean = true, false, *base, choice == ""
		st.staged = t.Index && t.IndexWant == contents.Merged(t.WorkWant) && s.index == contents.Merged(s.work)
		d.steps = append(d.steps, st)
	}
}

// mergeBase returns the base of a three-way merge of the present file with the checkpoint's, or
// nil if no merge is wanted or possible. Without a choice, a file is merged if both sides have
// changed their common version.
func (t Target) mergeBase(s state, choice Changed, r rules) *Side {
	if choice != Merged && (choice != "" || t.touched) || !s.work.IsRegular() || !t.WorkWant.IsRegular() {
		return nil
	}
	var common Side
	if r.common != nil {
		common = r.common(t.Path)
	}
	switch {
	case common.IsRegular() && common != t.WorkWant:
		return &common
	case choice == Merged && (t.WorkBase.IsRegular() || t.WorkBase == Side{}):
		return &t.WorkBase
	}
	return nil
}

// conflicts reports whether the user changed a path: a commit changed it, or a wanted
// side matches neither Base nor Want.
func (t Target) conflicts(s state) bool {
	index := t.Index && s.index != t.IndexWant && s.index != t.IndexBase
	work := t.Work && !s.sparse && s.work != t.WorkWant && s.work != t.WorkBase
	return t.touched || index || work
}

// isEdited reports whether the user has changed a file that was as in HEAD at the save. A file
// that is missing was deleted, unless the worktree was lost. Older content is not an edit.
func (t Target) isEdited(s state, r rules) bool {
	if s.work == (Side{}) && !r.lost {
		return true
	}
	return s.above != "" || len(s.inside) > 0 || !t.isKnown(s, r)
}

// isKnown reports whether the present versions of a path are stored elsewhere: in a checkpoint
// of the chain, or because they are those of this checkpoint or of HEAD at its save. A file that
// is gone has nothing to lose. A removed index entry is a change of the user.
func (t Target) isKnown(s state, r rules) bool {
	if r.known == nil {
		return false
	}
	index := !t.Index || s.index == t.IndexWant || s.index == t.IndexBase || r.knowsEntries(t.Path, s.index)
	work := !t.Work || s.sparse || s.work == t.WorkWant || s.work == t.WorkBase || s.work == (Side{}) || r.known(t.Path, s.work)
	return index && work
}

func (r *rules) knowsEntries(path string, entries Stages) bool {
	if entries == (Stages{}) {
		return r.asked
	}
	for _, e := range entries {
		if e != (Side{}) && e != contents.Intended && !r.known(path, e) {
			return false
		}
	}
	return true
}

// isHeld reports whether checkpoints hold the present versions of a path. An entry of git add -N
// belongs to its file.
func (t Target) isHeld(s state, r rules) bool {
	if s.index[0] == contents.Intended && !t.Work {
		return false
	}
	return r.known != nil && (!t.Index || r.knowsEntries(t.Path, s.index)) && (s.work == Side{} || r.known(t.Path, s.work))
}

// fit moves blocked steps to inTheWay: a file can replace neither a remaining directory
// nor a remaining parent file. A skipped step may block other steps, so fit repeats until
// every remaining step fits.
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
			d.fitFolded()
		}
		if len(d.steps) == n {
			slices.Sort(d.inTheWay)
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
			key := st.before.folded
			if key != "" && st.creates() && creator[key] == "" && existing == (st.before.disk.mode != 0) {
				creator[key] = st.path
			}
		}
	}
	d.steps = slices.DeleteFunc(d.steps, func(st Step) bool {
		if !st.creates() || st.before.folded == "" || creator[st.before.folded] == st.path {
			return false
		}
		d.inTheWay = append(d.inTheWay, st.path)
		return true
	})
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
