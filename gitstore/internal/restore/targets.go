package restore

import (
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// Contents are the trees and entries of a checkpoint besides its record.
type Contents struct {
	Record  *checkpoint.Record
	Base    plumbing.Hash // the tree of HEAD at the save, zero when unborn
	Staged  plumbing.Hash // the staging area as a tree
	Entries []trees.Entry // of the checkpoint's own tree
}

// wishes gather what a snapshot wants of every path.
type wishes struct {
	objects trees.Reader
	find    *trees.Finder
	snap    *Contents
	byPath  map[string]*Target
}

func (w *wishes) at(path string) *Target {
	if w.byPath[path] == nil {
		w.byPath[path] = &Target{Path: path}
	}
	return w.byPath[path]
}

// Targets lists what a snapshot changed against its HEAD, by path. Nothing
// else is ever touched.
func Targets(objects trees.Reader, snap *Contents) ([]Target, error) {
	w := &wishes{objects: objects, find: &trees.Finder{Reader: objects}, snap: snap, byPath: map[string]*Target{}}
	for _, gather := range []func() error{w.staged, w.conflicts, w.facts, w.trees} {
		if err := gather(); err != nil {
			return nil, err
		}
	}
	return w.list()
}

// staged wants what was staged in the staging area and in the worktree.
func (w *wishes) staged() error {
	changes, err := w.files(w.snap.Base, w.snap.Staged)
	for _, c := range changes {
		old, new := Side{c.Old.Mode, c.Old.Hash}, Side{c.New.Mode, c.New.Hash}
		*w.at(c.Path) = Target{
			Path: c.Path, Index: true, IndexBase: merged(old), IndexWant: merged(new),
			Work: old.Mode != trees.ModeGitlink && new.Mode != trees.ModeGitlink, WorkBase: old, WorkWant: new,
		}
	}
	return err
}

// files is diffTrees with modes as the staging area has them. A tree that
// names a path twice, or in the wrong order, is refused.
func (w *wishes) files(old, new plumbing.Hash) ([]trees.Change, error) {
	changes, err := trees.Diff(w.objects, old, new)
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
			if e.Mode, err = canonical(e.Mode); err != nil {
				return nil, trees.Corrupt("snapshot", "path %q: %w", c.Path, err)
			}
		}
		if !c.Old.Same(c.New) {
			kept = append(kept, c)
		}
	}
	return kept, nil
}

// canonical is a mode of a tree as the staging area has it: git once wrote
// more permissions than the executable bit.
func canonical(mode uint32) (uint32, error) {
	switch {
	case mode == trees.ModeSymlink, mode == trees.ModeGitlink:
		return mode, nil
	case mode&^0o777 == 0o100000 && mode&0o100 != 0:
		return trees.ModeExec, nil
	case mode&^0o777 == 0o100000:
		return trees.ModeFile, nil
	}
	return 0, fmt.Errorf("no mode of a file: %o", mode)
}

// conflicts wants the stages of unmerged paths back. What the worktree had of
// them is only known where it was captured.
func (w *wishes) conflicts() error {
	e, ok := trees.Find(w.snap.Entries, "conflicts")
	if !ok {
		return nil
	}
	stages, err := trees.Read(w.objects, e.Hash)
	if err != nil {
		return err
	}
	unmerged := map[string]bool{}
	for _, tree := range stages {
		if len(tree.Name) != 1 || tree.Name < "1" || tree.Name > "3" {
			return trees.Corrupt("conflicts/"+tree.Name, "not a stage")
		}
		files, err := w.files(plumbing.ZeroHash, tree.Hash)
		if err != nil {
			return err
		}
		for _, f := range files {
			t := w.at(f.Path)
			if !unmerged[f.Path] {
				unmerged[f.Path] = true
				base, err := w.base(f.Path)
				if err != nil {
					return err
				}
				*t = Target{Path: f.Path, Index: true, IndexBase: merged(base)}
			}
			t.IndexWant[tree.Name[0]-'0'] = Side{f.New.Mode, f.New.Hash}
		}
	}
	return nil
}

// facts wants what the record tells: paths that were marked with git add -N,
// whose file was there whatever was staged, and unstaged deletions.
func (w *wishes) facts() error {
	known := w.snap.Record.Snapshot()
	for _, path := range known.IntentToAdd {
		base, err := w.base(path)
		if err != nil {
			return err
		}
		*w.at(path) = Target{Path: path, Index: true, IndexBase: merged(base), IndexWant: merged(intended)}
	}
	for _, path := range known.Deleted {
		if err := w.work(path, Side{}); err != nil {
			return err
		}
	}
	return nil
}

// trees wants the files beside the staging area: unstaged changes, untracked
// files, artifacts.
func (w *wishes) trees() error {
	for _, name := range []string{"worktree", "untracked", "artifacts"} {
		e, ok := trees.Find(w.snap.Entries, name)
		if !ok {
			continue
		}
		files, err := w.files(plumbing.ZeroHash, e.Hash)
		if err != nil {
			return err
		}
		for _, f := range files {
			if f.New.Mode == trees.ModeGitlink {
				return trees.Corrupt("snapshot", "path %q: a submodule in %s/", f.Path, name)
			}
			if err := w.work(f.Path, Side{f.New.Mode, f.New.Hash}); err != nil {
				return err
			}
		}
	}
	return nil
}

// work sets what the worktree should have of a path.
func (w *wishes) work(path string, want Side) error {
	t := w.at(path)
	if !t.Work {
		base, err := w.base(path)
		if err != nil {
			return err
		}
		t.Work, t.WorkBase = true, base
	}
	t.WorkWant, t.captured = want, true
	return nil
}

// base is a path at HEAD when the checkpoint was saved.
func (w *wishes) base(path string) (Side, error) {
	f, err := sideAt(w.find, w.snap.Base, path)
	if err != nil || f == (Side{}) || f.Mode == trees.ModeTree {
		return Side{}, err
	}
	f.Mode, err = canonical(f.Mode)
	return f, err
}

// list checks the wishes against each other and against what git would check
// out, and sorts them.
func (w *wishes) list() ([]Target, error) {
	list := make([]Target, 0, len(w.byPath))
	inWork := map[string]bool{}
	for _, t := range w.byPath {
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
	for _, t := range w.byPath {
		if err := w.checkAbove(t, inWork); err != nil {
			return nil, err
		}
	}
	for _, t := range w.byPath {
		list = append(list, *t)
	}
	slices.SortFunc(list, func(a, b Target) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// checkAbove refuses a file below what is a file as well. What was captured
// was there: what was staged for such a place was not in the worktree.
func (w *wishes) checkAbove(t *Target, inWork map[string]bool) error {
	for i := range t.Path {
		over := w.byPath[t.Path[:i]]
		if t.Path[i] != '/' || over == nil {
			continue
		}
		both := inWork[over.Path] && inWork[t.Path]
		if both && over.captured != t.captured {
			t.Work, over.Work, both = t.Work && t.captured, over.Work && over.captured, false
		}
		if both || over.IndexWant.meet(t.IndexWant) {
			return trees.Corrupt("snapshot", "path %q: %q is a file as well", t.Path, over.Path)
		}
	}
	return nil
}

// meet reports whether two paths have an entry of the same stage: in other
// stages a file may stand beside a directory of its name.
func (s Stages) meet(o Stages) bool {
	for i := range s {
		if s[i] != (Side{}) && o[i] != (Side{}) {
			return true
		}
	}
	return false
}

// sideAt is a path in a tree.
func sideAt(find *trees.Finder, tree plumbing.Hash, path string) (Side, error) {
	mode, hash, err := find.Lookup(tree, path)
	return Side{mode, hash}, err
}
