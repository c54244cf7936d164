package gitstore

import (
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxMergedTrees limits the number of merged trees. They may come from untrusted clones,
// and a few tree objects can represent any number of directories.
const maxMergedTrees = 10_000

// A treeOverlay merges trees.
type treeOverlay struct {
	k    *objectWriter
	left int                                // number of trees that may still be created
	made map[[2]plumbing.Hash]plumbing.Hash // results, by pair of trees
}

// merge returns the entries of a tree, and those of another tree that the first one
// lacks.
func (p *treeOverlay) merge(entries, others []trees.Entry) []trees.Entry {
	at := make(map[string]int, len(entries))
	for i, e := range entries {
		at[e.Name] = i
	}
	for _, o := range others {
		i, both := at[o.Name]
		switch {
		case !both:
			entries = append(entries, o)
		case entries[i].IsTree() && o.IsTree():
			entries[i].Hash = p.mergeTree(entries[i].Hash, o.Hash)
		}
	}
	return entries
}

// mergeTree returns a tree with entries of both trees. For common names, the first tree
// wins.
func (p *treeOverlay) mergeTree(first, second plumbing.Hash) plumbing.Hash {
	pair := [2]plumbing.Hash{first, second}
	if made, ok := p.made[pair]; ok || first == second || p.left == 0 {
		if ok {
			return made
		}
		return first
	}
	p.left--
	p.made[pair] = first
	mine, err := trees.Read(p.k, first)
	theirs, otherErr := trees.Read(p.k, second)
	if err == nil && otherErr == nil {
		p.made[pair] = p.k.addTree(p.merge(mine, theirs))
	}
	return p.made[pair]
}
