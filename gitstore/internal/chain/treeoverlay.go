package chain

import (
	"git-checkpoint/gitstore/internal/repo"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// MaxMergedTrees limits the number of merged trees. They may come from untrusted clones,
// and a few tree objects can represent any number of directories.
const MaxMergedTrees = 10_000

// A TreeOverlay merges trees.
type TreeOverlay struct {
	Writer *repo.ObjectWriter
	Left   int                                // number of trees that may still be created
	Made   map[[2]plumbing.Hash]plumbing.Hash // results, by pair of trees
}

// merge returns the entries of a tree, and those of another tree that the first one
// lacks.
func (p *TreeOverlay) merge(entries, others []trees.Entry) []trees.Entry {
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
			entries[i].Hash = p.MergeTree(entries[i].Hash, o.Hash)
		}
	}
	return entries
}

// MergeTree returns a tree with entries of both trees. For common names, the first tree
// wins.
func (p *TreeOverlay) MergeTree(first, second plumbing.Hash) plumbing.Hash {
	pair := [2]plumbing.Hash{first, second}
	if made, ok := p.Made[pair]; ok || first == second || p.Left == 0 {
		if ok {
			return made
		}
		return first
	}
	p.Left--
	p.Made[pair] = first
	mine, err := trees.Read(p.Writer, first)
	theirs, otherErr := trees.Read(p.Writer, second)
	if err == nil && otherErr == nil {
		p.Made[pair] = p.Writer.AddTree(p.merge(mine, theirs))
	}
	return p.Made[pair]
}
