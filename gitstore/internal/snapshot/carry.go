package snapshot

import (
	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/chain"
	"git-checkpoint/gitstore/internal/contents"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Carrying has the trees from which the versions of carried paths come: paths that a save did
// not capture. Base, Here and Index decide by a merge, so that a carried path neither reverts a
// commit nor loses work that an earlier checkpoint has.
type Carrying struct {
	Captured plumbing.Hash // what the save captured; other paths of this tree do not count
	Head     plumbing.Hash // HEAD's tree
	Index    plumbing.Hash // tree of the index, as in staged/

	Agreement                      // of most paths
	Open      map[string]Agreement // of other paths

	Paths []string               // paths that were not captured; a directory ends with a slash
	Other func(path string) bool // reports whether another path was not captured; nil for none
}

// An Agreement has a checkpoint that the worktree last agreed on, or no ID. Here has the files, Staged
// the index, and Base is the tree of HEAD at the save.
type Agreement struct {
	ID                 checkpoint.ID
	Base, Here, Staged plumbing.Hash
}

// carry returns the captured tree with the versions of the paths that were not captured, and the
// checkpoints from which some of these versions come. The version of a path is:
//
//	Head = Base, Index = Staged   Here: nothing was committed or staged since
//	Here = Base                   Index: Head, or what is staged
//	Head = Base                   Here, unless the path was staged since
//	all three differ              Index
//	no checkpoint                 Index, else Head
//
// A version that would take the place of a captured path is left out.
func carry(r trees.Reader, to trees.Adder, c Carrying) (state plumbing.Hash, from map[string]checkpoint.ID, err error) {
	lacks := c.uncaptured()
	find := &trees.Finder{Reader: r}
	at := func(tree plumbing.Hash, path string) (f contents.Side) {
		if err == nil {
			f, err = contents.At(find, tree, path)
		}
		return f
	}
	changed, err := trees.Diff(r, c.Captured, c.Index)
	if err != nil {
		return state, nil, err
	}
	source := c.Here
	if c.ID == "" {
		source = c.Head
	}
	more, err := trees.Diff(r, c.Captured, source)
	if err != nil {
		return state, nil, err
	}
	for path := range c.Open {
		more = append(more, trees.Change{Path: path})
	}
	var edits []trees.FileEntry
	done, from := map[string]bool{}, map[string]checkpoint.ID{}
	for _, change := range append(changed, more...) {
		path := change.Path
		if done[path] || !lacks(path) {
			continue
		}
		done[path] = true
		agreed := c.Agreement
		if open, ok := c.Open[path]; ok {
			agreed = open
		}
		version, head, isHere := at(c.Index, path), at(c.Head, path), false
		switch here, base := at(agreed.Here, path), at(agreed.Base, path); {
		case agreed.ID == "":
			if version.Hash.IsZero() {
				version = head
			}
		case head == base && here != version:
			isSame := version == at(agreed.Staged, path)
			if isSame || here != base && version == head {
				version, isHere = here, true
			}
		}
		if err != nil {
			return state, nil, err
		}
		if at(c.Captured, path) != version {
			if !version.Hash.IsZero() && !c.isFree(find, path, lacks) {
				continue
			}
			edits = append(edits, trees.FileEntry{Path: path, Mode: version.Mode, Hash: version.Hash})
		}
		if isHere {
			from[path] = agreed.ID
		}
	}
	if len(edits) == 0 || err != nil {
		return c.Captured, from, err
	}
	state, err = replace(r, to, c.Captured, edits)
	return state, from, err
}

// replace is trees.Replace, but a tree without files is git's empty tree.
func replace(r trees.Reader, to trees.Adder, tree plumbing.Hash, edits []trees.FileEntry) (plumbing.Hash, error) {
	tree, err := trees.Replace(r, to, tree, edits)
	if err == nil && tree.IsZero() {
		tree = to.Add(plumbing.TreeObject, nil)
	}
	return tree, err
}

// uncaptured returns a function that reports whether a path was not captured.
func (c *Carrying) uncaptured() func(string) bool {
	named := chain.SetOf(c.Paths)
	return func(path string) bool {
		if named[path] || c.Other != nil && c.Other(path) {
			return true
		}
		for i := range path {
			if path[i] == '/' && named[path[:i+1]] {
				return true
			}
		}
		return false
	}
}

// isFree reports whether no captured file lies at a parent of a path, or below the path.
func (c *Carrying) isFree(find *trees.Finder, path string, lacks func(string) bool) bool {
	for i := range path {
		if path[i] != '/' {
			continue
		}
		mode, _, err := find.Lookup(c.Captured, path[:i])
		if err != nil || mode != 0 && mode != trees.ModeTree && !lacks(path[:i]) {
			return false
		}
	}
	mode, _, err := find.Lookup(c.Captured, path)
	return err == nil && mode != trees.ModeTree
}
