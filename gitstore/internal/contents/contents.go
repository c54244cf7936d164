package contents

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// Contents are the trees of a checkpoint, with its record.
type Contents struct {
	Record    *checkpoint.Record
	Base      plumbing.Hash // tree of HEAD at the save, zero on an unborn branch
	Staged    plumbing.Hash // index as a tree
	State     plumbing.Hash // the files of the work as a tree
	Conflicts plumbing.Hash // stages of unmerged paths, zero without one

	// Source is the state from which a save carried the files that it did not reach in time, zero if
	// it is not known.
	Source plumbing.Hash
}

// Files collects the targets of a snapshot.
type Files struct {
	find   *trees.Finder
	Snap   *Contents
	States checkpoint.Snapshot // of the record
	ByPath map[string]*Target
}

func (w *Files) at(path string) *Target {
	if w.ByPath[path] == nil {
		w.ByPath[path] = &Target{Path: path}
	}
	return w.ByPath[path]
}

// Gather collects the targets of one snapshot.
func Gather(objects trees.Reader, snap *Contents) (*Files, error) {
	w := &Files{find: &trees.Finder{Reader: objects}, Snap: snap, States: snap.Record.Snapshot(), ByPath: map[string]*Target{}}
	for _, gather := range []func() error{w.staged, w.conflicts, w.intended, w.work} {
		if err := gather(); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// staged adds targets for staged changes. Their files are as in HEAD unless work finds another
// version.
func (w *Files) staged() error {
	changes, err := w.files(w.Snap.Base, w.Snap.Staged)
	for _, c := range changes {
		old, new := Side{c.Old.Mode, c.Old.Hash}, Side{c.New.Mode, c.New.Hash}
		t := w.at(c.Path)
		t.Index, t.IndexBase, t.IndexWant = true, Merged(old), Merged(new)
		t.Work, t.WorkBase, t.WorkWant = true, old, old
	}
	return err
}

// files returns trees.Diff with index modes. It returns an error if a path occurs twice,
// as in an unsorted tree.
func (w *Files) files(old, new plumbing.Hash) ([]trees.Change, error) {
	changes, err := trees.Diff(w.find.Reader, old, new)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(changes))
	kept := changes[:0]
	for _, c := range changes {
		if seen[c.Path] {
			return nil, trees.Corrupt("snapshot", "path %q: a tree has it twice", c.Path)
		}
		seen[c.Path] = true
		for _, e := range []*trees.Entry{&c.Old, &c.New} {
			if *e == (trees.Entry{}) {
				continue
			}
			if e.Mode, err = trees.IndexMode(e.Mode); err != nil {
				return nil, trees.Corrupt("snapshot", "path %q: %w", c.Path, err)
			}
		}
		if !c.Old.Same(c.New) {
			kept = append(kept, c)
		}
	}
	return kept, nil
}

// conflicts adds index stages of unmerged paths.
func (w *Files) conflicts() error {
	files, err := w.files(plumbing.ZeroHash, w.Snap.Conflicts)
	if err != nil {
		return err
	}
	unmerged := map[string]bool{}
	for _, f := range files { // the path of a stage is "<stage>/<path>"
		stage, path, ok := strings.Cut(f.Path, "/")
		if !ok || len(stage) != 1 || stage < "1" || stage > "3" {
			return trees.Corrupt("conflicts/"+stage, "not a stage")
		}
		t := w.at(path)
		if !unmerged[path] {
			unmerged[path] = true
			base, err := w.version(w.Snap.Base, path)
			if err != nil {
				return err
			}
			*t = Target{Path: path, Index: true, IndexBase: Merged(base)}
		}
		t.IndexWant[stage[0]-'0'] = Side{f.New.Mode, f.New.Hash}
	}
	return nil
}

// intended adds index entries of paths added by git add -N.
func (w *Files) intended() error {
	for _, path := range w.States.IntentToAdd {
		base, err := w.version(w.Snap.Base, path)
		if err != nil {
			return err
		}
		*w.at(path) = Target{Path: path, Index: true, IndexBase: Merged(base), IndexWant: Merged(Intended)}
	}
	return nil
}

// work sets the files of the worktree: those that differ from HEAD, and those of paths whose index
// entry does. A file that was removed from the index and is absent from the state may lie in the
// worktree, so its target has no file.
func (w *Files) work() error {
	changes, err := w.files(w.Snap.Base, w.Snap.State)
	if err != nil {
		return err
	}
	for _, c := range changes {
		t := w.at(c.Path)
		t.Work, t.WorkBase, t.WorkWant = true, Side{c.Old.Mode, c.Old.Hash}, Side{c.New.Mode, c.New.Hash}
		if entry := Merged(t.WorkBase); !t.Index && !w.States.Skips(c.Path) { // the entry was as in HEAD
			t.Index, t.IndexBase, t.IndexWant = true, entry, entry
		}
	}
	kept := map[string]bool{}
	for _, path := range w.States.Kept {
		kept[path] = true
	}
	for path, t := range w.ByPath {
		if t.Captured = !w.IsCarried(path); !t.Work { // as in HEAD
			base, err := w.version(w.Snap.Base, path)
			if err != nil {
				return err
			}
			t.Work, t.WorkBase, t.WorkWant = t.Captured, base, base
		}
		isLink := t.WorkBase.Mode == trees.ModeGitlink || t.WorkWant.Mode == trees.ModeGitlink || t.IndexWant[0].Mode == trees.ModeGitlink
		t.Work = t.Work && !isLink && (!kept[path] || t.WorkWant != Side{})
	}
	return nil
}

// IsCarried reports whether the save did not capture the file at a path, so that the state has a
// version from another source, or none.
func (w *Files) IsCarried(path string) bool {
	if w.States.Skips(path) {
		return true
	}
	switch w.States.Scope {
	case checkpoint.ScopeStaged:
		entry := w.Entry(path)
		return entry == w.Version(w.Snap.Base, path) || entry != w.Version(w.Snap.State, path)
	case checkpoint.ScopeCut:
		now := w.Version(w.Snap.State, path)
		return w.Snap.Source.IsZero() || now == w.Version(w.Snap.Source, path) || now == w.Entry(path)
	}
	return false
}

// Knows reports whether the snapshot states what the worktree had at a path.
func (w *Files) Knows(path string) bool { return !w.IsCarried(path) && !w.States.Lacks(path) }

// IsWhole reports whether the save read all files, so that the absence of a file proves that the
// worktree did not have it.
func (w *Files) IsWhole() bool {
	isCut := slices.ContainsFunc(w.States.Skipped, func(f checkpoint.Skipped) bool { return f.Path == "." })
	return w.States.Scope == checkpoint.ScopeWhole && !isCut
}

// Entry returns the staged file at a path, or zero.
func (w *Files) Entry(path string) Side { return w.Version(w.Snap.Staged, path) }

// Version returns the file at a path of a tree, or zero without such a file, or if the tree cannot be
// read.
func (w *Files) Version(tree plumbing.Hash, path string) Side {
	f, err := w.version(tree, path)
	if err != nil {
		return Side{}
	}
	return f
}

func (w *Files) version(tree plumbing.Hash, path string) (Side, error) {
	f, err := At(w.find, tree, path)
	if err != nil || f == (Side{}) {
		return Side{}, err
	}
	f.Mode, err = trees.IndexMode(f.Mode)
	return f, err
}

// FileAt returns the file that the worktree had at a path. ok is false if the snapshot does not
// know it.
func (w *Files) FileAt(path string) (f Side, ok bool) {
	if !w.Knows(path) {
		return Side{}, false
	}
	return w.Version(w.Snap.State, path), true
}

// lacksEntry reports whether the staged content of a path may have been left out.
func (w *Files) lacksEntry(path string) bool {
	return w.States.Skips(path) && w.Entry(path) == w.Version(w.Snap.Base, path)
}

// Targets validates all targets against each other and git's path rules, and sorts them.
func (w *Files) Targets() ([]Target, error) {
	list := make([]Target, 0, len(w.ByPath))
	inWork := map[string]bool{}
	for _, t := range w.ByPath {
		modes := []uint32{t.WorkWant.Mode}
		for _, f := range t.IndexWant {
			modes = append(modes, f.Mode)
		}
		for _, mode := range modes {
			if err := trees.CheckPath(t.Path, mode); err != nil {
				return nil, trees.Corrupt("snapshot", "%w", err)
			}
		}
		inWork[t.Path] = t.Work && t.WorkWant != Side{}
	}
	for _, t := range w.ByPath {
		for i := range t.Path { // no parent path of a file is also a file
			over := w.ByPath[t.Path[:i]]
			if t.Path[i] == '/' && over != nil && (inWork[over.Path] && inWork[t.Path] || over.IndexWant.meet(t.IndexWant)) {
				return nil, trees.Corrupt("snapshot", "path %q: %q is a file as well", t.Path, over.Path)
			}
		}
		list = append(list, *t)
	}
	slices.SortFunc(list, func(a, b Target) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// meet reports whether two paths have entries of the same stage. In different stages, a
// file and a directory may share a name.
func (s Stages) meet(o Stages) bool {
	for i := range s {
		if s[i] != (Side{}) && o[i] != (Side{}) {
			return true
		}
	}
	return false
}

// At returns the file at a path of a tree, or zero.
func At(find *trees.Finder, tree plumbing.Hash, path string) (Side, error) {
	mode, hash, err := find.Lookup(tree, path)
	if err != nil || mode == trees.ModeTree {
		return Side{}, err
	}
	return Side{mode, hash}, nil
}

// Between returns a target for each path that differs between two snapshots, sorted by path. Base
// is the version of the older snapshot. Between leaves out files that the newer snapshot does not
// know, because their absence proves nothing.
func Between(objects trees.Reader, older, newer *Contents) ([]Target, error) {
	before, err := Gather(objects, older)
	if err != nil {
		return nil, err
	}
	after, err := Gather(objects, newer)
	if err != nil {
		return nil, err
	}
	staged, err := before.files(older.Staged, newer.Staged)
	if err != nil {
		return nil, err
	}
	work, err := before.files(older.State, newer.State)
	if err != nil {
		return nil, err
	}
	result := &Files{find: after.find, Snap: newer, States: after.States, ByPath: map[string]*Target{}}
	add := func(path string) {
		t := Target{Path: path, IndexBase: before.EntriesAt(path), IndexWant: after.EntriesAt(path)}
		t.Index = t.IndexBase != t.IndexWant && !before.lacksEntry(path) && !after.lacksEntry(path)
		var known bool
		t.WorkBase = before.Version(older.State, path)
		t.WorkWant, known = after.FileAt(path)
		gitlink := t.WorkBase.Mode == trees.ModeGitlink || t.WorkWant.Mode == trees.ModeGitlink
		if t.Work = known && !gitlink && t.WorkBase != t.WorkWant; t.Work || t.Index {
			t.Captured = t.Work
			result.ByPath[path] = &t
		}
	}
	for _, c := range append(staged, work...) {
		add(c.Path)
	}
	for _, side := range []*Files{before, after} {
		for path := range side.ByPath {
			add(path)
		}
	}
	return result.Targets()
}

// EntriesAt returns the entries of a path in the index of the save.
func (w *Files) EntriesAt(path string) Stages {
	if t := w.ByPath[path]; t != nil && t.Index {
		return t.IndexWant
	}
	return Merged(w.Entry(path))
}

// A Side is one version of a file: mode and blob. The zero Side means that the file does
// not exist.
type Side struct {
	Mode uint32
	Hash plumbing.Hash
}

// Stages holds the index entries of a path: stage 0, or stages 1 to 3 of an unmerged
// path.
type Stages [4]Side

// Merged returns the entries of a path that is not unmerged.
func Merged(s Side) Stages { return Stages{s} }

// Intended is stage 0 of a path added by git add -N: an entry without staged content.
var Intended = Side{Mode: modeIntent}

// modeIntent is a mode that git does not use.
const modeIntent = 1

// A Target is a checkpoint's version of one path: Base at HEAD during the save, and Want
// in the snapshot.
type Target struct {
	Path      string
	Index     bool // the checkpoint has an index entry of its own, also if that is a removal
	Work      bool // likewise the file in the worktree
	Captured  bool // the save read the file; otherwise the state carries a version of it
	IndexBase Stages
	IndexWant Stages
	WorkBase  Side
	WorkWant  Side
}

// String returns "<octal mode> <hash>", or "" for a missing file.
func (f Side) String() string {
	if f == (Side{}) {
		return ""
	}
	return fmt.Sprintf("%o %s", f.Mode, f.Hash)
}

// MarshalText returns the result of String.
func (f Side) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText parses the result of String.
func (f *Side) UnmarshalText(text []byte) error {
	if *f = (Side{}); len(text) == 0 {
		return nil
	}
	mode, hex, _ := strings.Cut(string(text), " ")
	n, err := strconv.ParseUint(mode, 8, 32)
	if err != nil || !plumbing.IsHash(hex) {
		return fmt.Errorf("%q is no file", text)
	}
	*f = Side{uint32(n), plumbing.NewHash(hex)}
	return nil
}

// IsBlob reports whether a side is a regular file or symlink.
func (f Side) IsBlob() bool { return f.IsRegular() || f.Mode == trees.ModeSymlink }

// IsRegular reports whether a side is a regular file.
func (f Side) IsRegular() bool { return f.Mode == trees.ModeFile || f.Mode == trees.ModeExec }
