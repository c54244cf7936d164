package restore

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Side is one version of a file: mode and blob. The zero Side means that the file does
// not exist.
type Side struct {
	Mode uint32
	Hash plumbing.Hash
}

// Stages holds the index entries of a path: stage 0, or stages 1 to 3 of an unmerged
// path.
type Stages [4]Side

func merged(s Side) Stages { return Stages{s} }

// intended is stage 0 of a path added by git add -N: an entry without staged content.
var intended = Side{Mode: modeIntent}

// modeIntent is a mode that git does not use.
const modeIntent = 1

// A Target is a checkpoint's version of one path: Base at HEAD during the save, and Want
// in the snapshot.
type Target struct {
	Path      string
	Index     bool          // restore the index entry
	Work      bool          // restore the worktree file
	session   string        // another session in this worktree changed the path, or ""
	later     bool          // came after the checkpoint, to be removed
	clean     bool          // as in HEAD at the save
	touched   bool          // changed by a commit since the checkpoint
	choice    Changed       // choice for this path, "" uses the request's default
	captured  bool          // snapshot saved the worktree file itself, not only staged content
	from      checkpoint.ID // earlier checkpoint that has the file, or ""
	IndexBase Stages
	IndexWant Stages
	WorkBase  Side
	WorkWant  Side
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

// Path returns the path of the step, relative to the root.
func (st Step) Path() string { return st.path }

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
	lost   bool                    // the worktree has none of its files
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

// writes reports whether a step writes the file of a path.
func (d *decision) writes(path string) bool {
	return slices.ContainsFunc(d.steps, func(st Step) bool { return st.path == path && st.work })
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
	base := t.mergeBase(s, choice, r)
	switch {
	case t.session != "" && choice == "" && !r.force:
		d.others = append(d.others, t.Path)
	case t.clean && !r.asked && t.isEdited(s, r):
		d.unsaved = append(d.unsaved, t.Path)
	case st.work && s.blockage != "":
		d.inTheWay = append(d.inTheWay, t.Path)
		if s.foreign != "" {
			d.foreign = append(d.foreign, s.foreign)
		}
	case t.later && !r.exact && (choice == Mine || !t.isHeld(s, r)): // Outcome.Later names it
	case t.later && (!t.Index || s.index[0] == intended), !t.conflicts(s), !t.touched && choice == "" && t.isKnown(s, r):
		d.steps = append(d.steps, st)
	case t.overwritesUnknown(s) && !r.force:
		d.inTheWay, d.unknown = append(d.inTheWay, t.Path), true
	case replaces:
		d.steps = append(d.steps, st)
	case st.work && base != nil:
		st.merge, st.index, st.base, st.onlyClean = true, false, *base, choice == ""
		st.staged = t.Index && t.IndexWant == merged(t.WorkWant) && s.index == merged(s.work)
		d.steps = append(d.steps, st)
	default:
		d.changed = append(d.changed, t.Path)
	}
}

// mergeBase returns the base of a three-way merge of the present file with the checkpoint's, or
// nil if no merge is wanted or possible. Without a choice, a file is merged if both sides have
// changed their common version.
func (t Target) mergeBase(s state, choice Changed, r rules) *Side {
	if choice != Merged && (choice != "" || t.touched) || !isRegular(s.work) || !isRegular(t.WorkWant) {
		return nil
	}
	var common Side
	if r.common != nil {
		common = r.common(t.Path)
	}
	switch {
	case isRegular(common) && common != t.WorkWant:
		return &common
	case choice == Merged && (isRegular(t.WorkBase) || t.WorkBase == Side{}):
		return &t.WorkBase
	}
	return nil
}

func isRegular(f Side) bool { return f.Mode == trees.ModeFile || f.Mode == trees.ModeExec }

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
		if e != (Side{}) && e != intended && !r.known(path, e) {
			return false
		}
	}
	return true
}

// isHeld reports whether checkpoints hold the present versions of a path. An entry of git add -N
// belongs to its file.
func (t Target) isHeld(s state, r rules) bool {
	if s.index[0] == intended && !t.Work {
		return false
	}
	return r.known != nil && (!t.Index || r.knowsEntries(t.Path, s.index)) && (s.work == Side{} || r.known(t.Path, s.work))
}

// overwritesUnknown reports whether a step would overwrite an untracked file with content
// of its own by a tracked file.
func (t Target) overwritesUnknown(s state) bool {
	unknown := s.index == Stages{} || s.index[0] == intended
	return unknown && t.Index && t.Work && s.work != Side{} && s.work != t.WorkWant && s.work != t.WorkBase
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

// A StoredStep is the JSON form of a step. Paths that are not UTF-8 are quoted as in git.
// A file is "<octal mode> <hash>", or "" if missing. Disk values have raw content and
// permissions; other values have git's modes and filtered content.
type StoredStep struct {
	Path        string    `json:"path"`
	Index       bool      `json:"index,omitempty"`
	Work        bool      `json:"work,omitempty"`
	IndexBefore [4]string `json:"index_before"`
	IndexAfter  [4]string `json:"index_after"`
	DiskBefore  string    `json:"disk_before,omitempty"`
	DiskAfter   string    `json:"disk_after,omitempty"`
	WorkBefore  string    `json:"work_before,omitempty"`
	WorkAfter   string    `json:"work_after,omitempty"`
	Made        string    `json:"made,omitempty"` // topmost parent directory that was missing
	Sparse      bool      `json:"sparse,omitempty"`
	Assume      bool      `json:"assume_unchanged,omitempty"`
}

// Stored returns the JSON form of the step.
func (st Step) Stored() StoredStep {
	e := StoredStep{
		Path: checkpoint.QuotePath(st.path), Index: st.index, Work: st.work,
		DiskBefore: st.before.disk.String(), DiskAfter: st.diskAfter.String(),
		WorkBefore: st.before.work.String(), WorkAfter: st.workAfter.String(),
		Sparse: st.before.sparse, Assume: st.before.assume,
	}
	if st.before.made != "" {
		e.Made = checkpoint.QuotePath(st.before.made)
	}
	for i := range st.indexAfter {
		e.IndexBefore[i], e.IndexAfter[i] = st.before.index[i].String(), st.indexAfter[i].String()
	}
	return e
}

// Step parses a stored step. It returns an error for invalid values.
func (e StoredStep) Step() (Step, error) {
	st := Step{index: e.Index, work: e.Work}
	st.before.sparse, st.before.assume = e.Sparse, e.Assume
	var diskBefore, diskAfter Side
	for _, f := range []struct {
		to   *Side
		text string
	}{
		{&diskBefore, e.DiskBefore},
		{&diskAfter, e.DiskAfter},
		{&st.before.work, e.WorkBefore},
		{&st.workAfter, e.WorkAfter},
	} {
		if err := f.to.parse(f.text); err != nil {
			return st, err
		}
	}
	st.before.disk = fileOnDisk{mode: diskBefore.Mode, hash: diskBefore.Hash}
	st.diskAfter = fileOnDisk{mode: diskAfter.Mode, hash: diskAfter.Hash}
	for i := range st.indexAfter {
		if err := st.before.index[i].parse(e.IndexBefore[i]); err != nil {
			return st, err
		}
		if err := st.indexAfter[i].parse(e.IndexAfter[i]); err != nil {
			return st, err
		}
	}
	var err error
	if st.path, err = checkpoint.UnquotePath(e.Path); err != nil {
		return st, err
	}
	if st.before.made, err = checkpoint.UnquotePath(e.Made); err != nil {
		return st, err
	}
	return st, trees.CheckPath(st.path, st.workAfter.Mode)
}

func (f Side) String() string {
	if f == (Side{}) {
		return ""
	}
	return fmt.Sprintf("%o %s", f.Mode, f.Hash)
}

func (f *Side) parse(s string) error {
	if s == "" {
		*f = Side{}
		return nil
	}
	mode, hex, _ := strings.Cut(s, " ")
	n, err := strconv.ParseUint(mode, 8, 32)
	if err != nil || !plumbing.IsHash(hex) {
		return fmt.Errorf("safety snapshot: %q is no file", s)
	}
	*f = Side{uint32(n), plumbing.NewHash(hex)}
	return nil
}

// Needs returns blobs needed to undo or finish the step.
func (st Step) Needs() []plumbing.Hash {
	var hashes []plumbing.Hash
	if st.work {
		hashes = append(hashes, st.before.disk.hash, st.workAfter.Hash)
	}
	for _, stages := range []Stages{st.before.index, st.indexAfter} {
		for _, e := range stages {
			if blob(e) {
				hashes = append(hashes, e.Hash)
			}
		}
	}
	return hashes
}
