package treediff

import (
	"cmp"

	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Whole builds the whole states of checkpoints as trees, and objects on top of them. They are
// not stored in the repository until Write.
type Whole struct{ held held }

// NewWhole returns a Whole that reads stored objects from r.
func NewWhole(r trees.Reader) *Whole {
	return &Whole{held{objects: r, made: map[plumbing.Hash][]byte{}, kinds: map[plumbing.Hash]plumbing.ObjectType{}}}
}

// Tree returns the tree of a side: its captured files, otherwise its staged files. An unmerged
// path without captured file has ours, then theirs, then base.
func (w *Whole) Tree(s Side) (plumbing.Hash, error) {
	tree, _, err := w.held.tree(s)
	if err == nil && tree.IsZero() {
		tree = w.Add(plumbing.TreeObject, nil)
	}
	return tree, err
}

// Replace returns a tree with a file replaced.
func (w *Whole) Replace(base plumbing.Hash, f trees.FileEntry) (plumbing.Hash, error) {
	return w.held.overlay(base, []trees.FileEntry{f})
}

// Read reads an added or a stored object.
func (w *Whole) Read(hash plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	return w.held.Read(hash)
}

// Add adds an object and returns its name.
func (w *Whole) Add(kind plumbing.ObjectType, content []byte) plumbing.Hash {
	hash := plumbing.ComputeHash(kind, content)
	w.held.made[hash] = content
	w.held.kinds[hash] = kind
	return hash
}

// Len returns the number of added objects.
func (w *Whole) Len() int { return len(w.held.made) }

// Each calls do for each added object.
func (w *Whole) Each(do func(kind plumbing.ObjectType, content []byte)) {
	for hash, content := range w.held.made {
		do(cmp.Or(w.held.kinds[hash], plumbing.TreeObject), content)
	}
}

// Write stores the objects as loose objects below dir, and forgets them.
func (w *Whole) Write(dir string) error {
	if err := w.held.write(dir); err != nil {
		return err
	}
	clear(w.held.made)
	clear(w.held.kinds)
	return nil
}
