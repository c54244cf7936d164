package gitstore

import (
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// stored is a checkpoint's snapshot, opened.
type stored struct {
	record  *checkpoint.Record
	head    plumbing.Hash // HEAD at the save, zero when unborn
	base    plumbing.Hash // its tree
	staged  plumbing.Hash
	entries []trees.Entry
}

// openSnapshot reads what a checkpoint holds besides its record.
func (s *Store) openSnapshot(c *Checkpoint) (*stored, error) {
	record, err := s.SoundRecord(c)
	if err != nil {
		return nil, err
	}
	st := &stored{record: record}
	commit, err := s.readCommit(c.Commit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.ID, err)
	}
	if st.entries, err = trees.Read(s.objects, c.Tree); err != nil {
		return nil, fmt.Errorf("%s: %w", c.ID, err)
	}
	if e, ok := trees.Find(st.entries, "staged"); ok {
		st.staged = e.Hash
	}
	if len(commit.parents) < 2 {
		return st, nil
	}
	index, err := s.readNear(c, "index commit", commit.parents[1])
	if err != nil {
		return nil, err
	}
	if len(index.parents) == 0 {
		return st, nil
	}
	st.head = index.parents[0]
	head, err := s.readNear(c, "HEAD at the save", st.head)
	if err != nil {
		return nil, err
	}
	st.base = head.tree
	return st, nil
}

// readNear reads a commit that a checkpoint builds on, which may be beyond the
// boundary of a shallow clone.
func (s *Store) readNear(c *Checkpoint, what string, hash plumbing.Hash) (rawCommit, error) {
	commit, err := s.readCommit(hash)
	switch {
	case err == nil:
		return commit, nil
	case s.repo.shallow && !s.objects.Has(hash):
		return commit, &RefusedError{
			Reason: fmt.Sprintf("the %s, %s, is not in this shallow clone", what, hash.String()[:12]),
			Hint:   "git fetch --unshallow",
		}
	}
	return commit, fmt.Errorf("%s: %s: %w", c.ID, what, err)
}

// wishes gather what a snapshot wants of every path.
type wishes struct {
	s      *Store
	st     *stored
	byPath map[string]*target
}

func (w *wishes) at(path string) *target {
	if w.byPath[path] == nil {
		w.byPath[path] = &target{path: path}
	}
	return w.byPath[path]
}

// targets lists what the snapshot changed against its HEAD, by path. Nothing
// else is ever touched.
func (s *Store) targets(st *stored) ([]target, error) {
	w := &wishes{s: s, st: st, byPath: map[string]*target{}}
	for _, gather := range []func() error{w.staged, w.conflicts, w.facts, w.trees} {
		if err := gather(); err != nil {
			return nil, err
		}
	}
	return w.list()
}

// staged wants what was staged in the staging area and in the worktree.
func (w *wishes) staged() error {
	changes, err := w.files(w.st.base, w.st.staged)
	for _, c := range changes {
		old, new := side{c.Old.Mode, c.Old.Hash}, side{c.New.Mode, c.New.Hash}
		*w.at(c.Path) = target{
			path: c.Path, index: true, indexBase: merged(old), indexWant: merged(new),
			work: old.mode != trees.ModeGitlink && new.mode != trees.ModeGitlink, workBase: old, workWant: new,
		}
	}
	return err
}

// files is diffTrees with modes as the staging area has them. A tree that
// names a path twice, or in the wrong order, is refused.
func (w *wishes) files(old, new plumbing.Hash) ([]trees.Change, error) {
	changes, err := trees.Diff(w.s.objects, old, new)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(changes))
	kept := changes[:0]
	for _, c := range changes {
		if seen[c.Path] {
			return nil, corrupt("snapshot", "path %q: a tree has it twice", c.Path)
		}
		seen[c.Path] = true
		for _, e := range []*trees.Entry{&c.Old, &c.New} {
			if e.Mode, err = canonical(e.Mode); err != nil {
				return nil, corrupt("snapshot", "path %q: %w", c.Path, err)
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
	case mode == 0, mode == trees.ModeSymlink, mode == trees.ModeGitlink:
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
	e, ok := trees.Find(w.st.entries, "conflicts")
	if !ok {
		return nil
	}
	trees, err := trees.Read(w.s.objects, e.Hash)
	if err != nil {
		return err
	}
	unmerged := map[string]bool{}
	for _, tree := range trees {
		if len(tree.Name) != 1 || tree.Name < "1" || tree.Name > "3" {
			return corrupt("conflicts/"+tree.Name, "not a stage")
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
				*t = target{path: f.Path, index: true, indexBase: merged(base)}
			}
			t.indexWant[tree.Name[0]-'0'] = side{f.New.Mode, f.New.Hash}
		}
	}
	return nil
}

// facts wants what the record tells: paths that were marked with git add -N,
// whose file was there whatever was staged, and unstaged deletions.
func (w *wishes) facts() error {
	known := w.st.record.Snapshot()
	for _, path := range known.IntentToAdd {
		base, err := w.base(path)
		if err != nil {
			return err
		}
		*w.at(path) = target{path: path, index: true, indexBase: merged(base), indexWant: merged(intended)}
	}
	for _, path := range known.Deleted {
		if err := w.work(path, side{}); err != nil {
			return err
		}
	}
	return nil
}

// trees wants the files beside the staging area: unstaged changes, untracked
// files, artifacts.
func (w *wishes) trees() error {
	for _, name := range []string{"worktree", "untracked", "artifacts"} {
		e, ok := trees.Find(w.st.entries, name)
		if !ok {
			continue
		}
		files, err := w.files(plumbing.ZeroHash, e.Hash)
		if err != nil {
			return err
		}
		for _, f := range files {
			if f.New.Mode == trees.ModeGitlink {
				return corrupt("snapshot", "path %q: a submodule in %s/", f.Path, name)
			}
			if err := w.work(f.Path, side{f.New.Mode, f.New.Hash}); err != nil {
				return err
			}
		}
	}
	return nil
}

// work sets what the worktree should have of a path.
func (w *wishes) work(path string, want side) error {
	t := w.at(path)
	if !t.work {
		base, err := w.base(path)
		if err != nil {
			return err
		}
		t.work, t.workBase = true, base
	}
	t.workWant, t.captured = want, true
	return nil
}

// base is a path at HEAD when the checkpoint was saved.
func (w *wishes) base(path string) (side, error) {
	f, err := w.s.sideAt(w.st.base, path)
	if err != nil || f.mode == trees.ModeTree {
		return side{}, err
	}
	f.mode, err = canonical(f.mode)
	return f, err
}

// list checks the wishes against each other and against what git would check
// out, and sorts them.
func (w *wishes) list() ([]target, error) {
	list := make([]target, 0, len(w.byPath))
	inWork := map[string]bool{}
	for _, t := range w.byPath {
		modes := []uint32{t.workWant.mode}
		for _, f := range t.indexWant {
			modes = append(modes, f.mode)
		}
		for _, mode := range modes {
			if err := trees.CheckPath(t.path, mode); err != nil {
				return nil, corrupt("snapshot", "%w", err)
			}
		}
		inWork[t.path] = t.work && t.workWant != side{}
	}
	for _, t := range w.byPath {
		if err := w.checkAbove(t, inWork); err != nil {
			return nil, err
		}
	}
	for _, t := range w.byPath {
		list = append(list, *t)
	}
	slices.SortFunc(list, func(a, b target) int { return strings.Compare(a.path, b.path) })
	return list, nil
}

// checkAbove refuses a file below what is a file as well. What was captured
// was there: what was staged for such a place was not in the worktree.
func (w *wishes) checkAbove(t *target, inWork map[string]bool) error {
	for i := range t.path {
		over := w.byPath[t.path[:i]]
		if t.path[i] != '/' || over == nil {
			continue
		}
		both := inWork[over.path] && inWork[t.path]
		if both && over.captured != t.captured {
			t.work, over.work, both = t.work && t.captured, over.work && over.captured, false
		}
		if both || over.indexWant.meet(t.indexWant) {
			return corrupt("snapshot", "path %q: %q is a file as well", t.path, over.path)
		}
	}
	return nil
}

// meet reports whether two paths have an entry of the same stage: in other
// stages a file may stand beside a directory of its name.
func (s stages) meet(o stages) bool {
	for i := range s {
		if s[i] != (side{}) && o[i] != (side{}) {
			return true
		}
	}
	return false
}

// sideAt is a path in a tree.
func (s *Store) sideAt(tree plumbing.Hash, path string) (side, error) {
	mode, hash, err := trees.Lookup(s.objects, tree, path)
	return side{mode, hash}, err
}
