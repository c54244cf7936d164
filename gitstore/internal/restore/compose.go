package restore

import (
	"maps"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A composition is the newest known state of the files at a checkpoint. Its first layer is the
// checkpoint. Each further layer is an earlier checkpoint, for the paths that all layers before
// it do not know: they captured another class of files, or left the path out.
type composition struct {
	layers []*wishes
}

// compose returns the composition of a checkpoint and of earlier checkpoints, newest first. An
// earlier checkpoint that cannot be read ends it.
func compose(objects trees.Reader, layers []*Contents) (*composition, error) {
	first, err := gather(objects, layers[0])
	if err != nil {
		return nil, err
	}
	c := &composition{[]*wishes{first}}
	for _, layer := range layers[1:] {
		w, err := gather(objects, layer)
		if err != nil {
			break
		}
		c.layers = append(c.layers, w)
	}
	return c, nil
}

// targets returns the targets of all layers, sorted by path. The checkpoint's own targets come
// alone if those of earlier layers do not fit to them, such as a file in place of a directory.
func (c *composition) targets() ([]Target, error) {
	first := c.layers[0]
	own := maps.Clone(first.byPath)
	for i, layer := range c.layers[1:] {
		for _, path := range slices.Sorted(maps.Keys(layer.byPath)) {
			if c.layerOf(path, i+1) == nil {
				first.adopt(layer, path)
			}
		}
	}
	list, err := first.list()
	if err != nil && len(c.layers) > 1 {
		first.byPath = own
		return first.list()
	}
	return list, err
}

// layerOf returns the first of n layers that knows the file at a path, or nil.
func (c *composition) layerOf(path string, n int) *wishes {
	for _, layer := range c.layers[:n] {
		if layer.knows(path) {
			return layer
		}
	}
	return nil
}

// knows reports whether the snapshot states what the worktree had at a path.
func (w *wishes) knows(path string) bool {
	if t := w.byPath[path]; t != nil && t.captured && t.from == "" {
		return true
	}
	if w.states.Lacks(path) {
		return false
	}
	extent, class := w.states.Extent(), checkpoint.Coverage("")
	if class = extent.Untracked; w.entry(path) != (Side{}) || slices.Contains(w.states.IntentToAdd, path) {
		class = extent.Worktree
	}
	return class != checkpoint.NoFiles
}

// entry returns the staged file at a path, or zero.
func (w *wishes) entry(path string) Side { return w.version(w.snap.Staged, path) }

// version returns the file at a path of a tree, or zero if there is none or the tree cannot be
// read.
func (w *wishes) version(tree plumbing.Hash, path string) Side {
	f, err := sideAt(w.find, tree, path)
	if err != nil || f == (Side{}) || f.Mode == trees.ModeTree {
		return Side{}
	}
	if mode, err := canonical(f.Mode); err == nil {
		f.Mode = mode
	}
	return f
}

// adopt takes a path from an earlier layer, if commits and index have not changed it since:
// otherwise index or HEAD are newer than the file of the layer.
func (w *wishes) adopt(layer *wishes, path string) {
	t := layer.byPath[path]
	if !t.Work || t.from != "" || w.version(w.snap.Base, path) != layer.version(layer.snap.Base, path) {
		return
	}
	if w.isBelowNewer(layer, path) {
		return
	}
	own := Target{Path: path}
	if w.byPath[path] != nil {
		own = *w.byPath[path]
	}
	switch lacksIndex := w.lacksEntry(path); {
	case lacksIndex && !own.Index && t.Index:
		own.Index, own.IndexBase, own.IndexWant = true, t.IndexBase, t.IndexWant
	case !lacksIndex && w.entry(path) != layer.entry(path):
		return
	}
	own.Work, own.captured, own.from = true, t.captured, layer.snap.ID
	own.WorkBase, own.WorkWant = t.WorkBase, t.WorkWant
	w.byPath[path] = &own
}

// lacksEntry reports whether the staged content of a path was left out.
func (w *wishes) lacksEntry(path string) bool {
	return slices.ContainsFunc(w.states.Skipped, func(f checkpoint.Skipped) bool {
		return f.Class == checkpoint.InIndex && checkpoint.IsWithin(path, f.Path)
	})
}

// isBelowNewer reports whether the index has a file in place of a parent directory that the index
// of an earlier layer did not have.
func (w *wishes) isBelowNewer(layer *wishes, path string) bool {
	for i := range path {
		if path[i] != '/' {
			continue
		}
		if f := w.entry(path[:i]); f != (Side{}) && f != layer.entry(path[:i]) {
			return true
		}
	}
	return false
}

// fileAt returns the file that the worktree had at a path. ok is false if the snapshot does not
// know it.
func (w *wishes) fileAt(path string) (f Side, ok bool) {
	if !w.knows(path) {
		return Side{}, false
	}
	if t := w.byPath[path]; t != nil && t.Work {
		return t.WorkWant, true
	}
	return w.entry(path), true
}
