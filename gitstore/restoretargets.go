package gitstore

import (
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/go-git/go-git/v5/plumbing"
)

// stored is a checkpoint's snapshot, opened.
type stored struct {
	record  *checkpoint.Record
	head    plumbing.Hash // HEAD at the save, zero when unborn
	base    plumbing.Hash // its tree
	staged  plumbing.Hash
	entries []treeEntry
}

// openSnapshot reads what a checkpoint holds besides its record.
func (s *Store) openSnapshot(c *Checkpoint) (*stored, error) {
	record, err := s.Record(c)
	if err != nil {
		return nil, err
	}
	st := &stored{record: record}
	commit, err := s.readCommit(c.Commit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.ID, err)
	}
	if st.entries, err = readTree(s.objects, c.Tree); err != nil {
		return nil, fmt.Errorf("%s: %w", c.ID, err)
	}
	if e, ok := entry(st.entries, "staged"); ok {
		st.staged = e.hash
	}
	if len(commit.parents) < 2 {
		return st, nil
	}
	index, err := s.readCommit(commit.parents[1])
	if err != nil {
		return nil, fmt.Errorf("%s: index commit: %w", c.ID, err)
	}
	if len(index.parents) == 0 {
		return st, nil
	}
	st.head = index.parents[0]
	head, err := s.readCommit(st.head)
	if err != nil {
		return nil, fmt.Errorf("%s: HEAD at the save: %w", c.ID, err)
	}
	st.base = head.tree
	return st, nil
}

// targets lists what the snapshot changed against its HEAD, by path. Nothing
// else is ever touched.
func (s *Store) targets(st *stored) ([]target, error) {
	byPath := map[string]*target{}
	at := func(path string) *target {
		if byPath[path] == nil {
			byPath[path] = &target{path: path}
		}
		return byPath[path]
	}
	changes, err := diffTrees(s.objects, st.base, st.staged)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		t := at(c.path)
		old, new := side{c.old.mode, c.old.hash}, side{c.new.mode, c.new.hash}
		t.index, t.indexBase, t.indexWant = true, merged(old), merged(new)
		t.work = old.mode != modeGitlink && new.mode != modeGitlink
		t.workBase, t.workWant = old, new
	}
	if err := s.conflictTargets(st, at); err != nil {
		return nil, err
	}
	if err := s.extraTargets(st, at); err != nil {
		return nil, err
	}
	list := make([]target, 0, len(byPath))
	for _, t := range byPath {
		for _, w := range []uint32{t.workWant.mode, t.indexWant[0].mode} {
			if err := checkPath(t.path, w); err != nil {
				return nil, corrupt("snapshot", "%w", err)
			}
		}
		list = append(list, *t)
	}
	slices.SortFunc(list, func(a, b target) int { return strings.Compare(a.path, b.path) })
	return list, nil
}

// conflictTargets wants the stages of unmerged paths back. What the worktree
// had of them is only known where it was captured.
func (s *Store) conflictTargets(st *stored, at func(string) *target) error {
	e, ok := entry(st.entries, "conflicts")
	if !ok {
		return nil
	}
	trees, err := readTree(s.objects, e.hash)
	if err != nil {
		return err
	}
	for _, tree := range trees {
		if len(tree.name) != 1 || tree.name < "1" || tree.name > "3" {
			return corrupt("conflicts/"+tree.name, "not a stage")
		}
		files, err := diffTrees(s.objects, plumbing.ZeroHash, tree.hash)
		if err != nil {
			return err
		}
		for _, f := range files {
			t := at(f.path)
			if t.indexWant[1] == (side{}) && t.indexWant[2] == (side{}) && t.indexWant[3] == (side{}) {
				base, err := s.sideAt(st.base, f.path)
				if err != nil {
					return err
				}
				*t = target{path: f.path, index: true, indexBase: merged(base)}
			}
			t.indexWant[tree.name[0]-'0'] = side{f.new.mode, f.new.hash}
		}
	}
	return nil
}

// extraTargets are the files beside the staging area: unstaged changes and
// deletions, untracked files, artifacts.
func (s *Store) extraTargets(st *stored, at func(string) *target) error {
	for _, name := range []string{"worktree", "untracked", "artifacts"} {
		e, ok := entry(st.entries, name)
		if !ok {
			continue
		}
		files, err := diffTrees(s.objects, plumbing.ZeroHash, e.hash)
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := s.wantWork(st, at(f.path), side{f.new.mode, f.new.hash}); err != nil {
				return err
			}
		}
	}
	facts := st.record.Snapshot()
	for _, path := range facts.Deleted {
		if err := s.wantWork(st, at(path), side{}); err != nil {
			return err
		}
	}
	for _, path := range facts.IntentToAdd {
		at(path).intentOnly = true
	}
	return nil
}

// wantWork sets what the worktree should have of a path.
func (s *Store) wantWork(st *stored, t *target, want side) error {
	if !t.work {
		base, err := s.sideAt(st.base, t.path)
		if err != nil {
			return err
		}
		t.work, t.workBase = true, base
	}
	t.workWant = want
	return nil
}

// sideAt is a path in a tree.
func (s *Store) sideAt(tree plumbing.Hash, path string) (side, error) {
	mode, hash, err := lookupPath(s.objects, tree, path)
	return side{mode, hash}, err
}

// within keeps the targets at or below one of paths, all for none.
func within(targets []target, paths []string) ([]target, error) {
	if len(paths) == 0 {
		return targets, nil
	}
	var kept []target
	for _, path := range paths {
		clean := strings.TrimSuffix(path, "/")
		n := len(kept)
		for _, t := range targets {
			if clean == "." || t.path == clean || strings.HasPrefix(t.path, clean+"/") {
				kept = append(kept, t)
			}
		}
		if len(kept) == n {
			return nil, fmt.Errorf("path %q: the checkpoint did not change it", path)
		}
	}
	slices.SortFunc(kept, func(a, b target) int { return strings.Compare(a.path, b.path) })
	return slices.CompactFunc(kept, func(a, b target) bool { return a.path == b.path }), nil
}
