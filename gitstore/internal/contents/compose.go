package contents

import (
	"maps"
	"slices"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/internal/trees"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Composition is the newest known state of the files at a checkpoint. Its first layer is the
// checkpoint. Each further layer is an earlier checkpoint, for the paths that all layers before
// it do not know: they captured another class of files, or left the path out.
type Composition struct {
	Layers []*Files
	Left   []Left // set by Targets
}

// Left is a file of an earlier layer that is not part of the state: index or HEAD have changed at
// its path since, so the file is not known to be the newest.
type Left struct {
	Path string
	ID   checkpoint.ID
	File Side
}

// Compose returns the composition of a checkpoint and of earlier checkpoints, newest first. An
// earlier checkpoint that cannot be read ends it.
func Compose(objects trees.Reader, layers []*Contents) (*Composition, error) {
	first, err := Gather(objects, layers[0])
	if err != nil {
		return nil, err
	}
	c := &Composition{Layers: []*Files{first}}
	for _, layer := range layers[1:] {
		w, err := Gather(objects, layer)
		if err != nil {
			break
		}
		c.Layers = append(c.Layers, w)
	}
	return c, nil
}

// Targets returns the targets of all layers, sorted by path. The checkpoint's own targets come
// alone if those of earlier layers do not fit to them, such as a file in place of a directory.
func (c *Composition) Targets() ([]Target, error) {
	first := c.Layers[0]
	own := maps.Clone(first.ByPath)
	for i, layer := range c.Layers[1:] {
		for _, path := range slices.Sorted(maps.Keys(layer.ByPath)) {
			if c.LayerOf(path, i+1) != nil || first.adopt(layer, path) {
				continue
			}
			if t := layer.ByPath[path]; (t.Captured || first.Entry(path) == Side{}) && t.From == "" && t.Work && t.WorkWant != (Side{}) && t.WorkWant != first.Entry(path) {
				c.Left = append(c.Left, Left{path, layer.Snap.ID, t.WorkWant})
			}
		}
	}
	list, err := first.list()
	if err != nil && len(c.Layers) > 1 {
		first.ByPath = own
		return first.list()
	}
	return list, err
}

// LayerOf returns the first of n layers that knows the file at a path, or nil.
func (c *Composition) LayerOf(path string, n int) *Files {
	for _, layer := range c.Layers[:n] {
		if layer.Knows(path) {
			return layer
		}
	}
	return nil
}

// Knows reports whether the snapshot states what the worktree had at a path.
func (w *Files) Knows(path string) bool {
	if t := w.ByPath[path]; t != nil && t.Captured && t.From == "" {
		return true
	}
	if w.States.Lacks(path) {
		return false
	}
	extent, class := w.States.Extent(), checkpoint.Coverage("")
	if class = extent.Untracked; w.Entry(path) != (Side{}) || slices.Contains(w.States.IntentToAdd, path) {
		class = extent.Worktree
	}
	return class != checkpoint.NoFiles
}

// Entry returns the staged file at a path, or zero.
func (w *Files) Entry(path string) Side { return w.Version(w.Snap.Staged, path) }

// Version returns the file at a path of a tree, or zero without such a file, or if the tree cannot be
// read.
func (w *Files) Version(tree plumbing.Hash, path string) Side {
	f, err := At(w.find, tree, path)
	if err != nil || f == (Side{}) || f.Mode == trees.ModeTree {
		return Side{}
	}
	if mode, err := canonical(f.Mode); err == nil {
		f.Mode = mode
	}
	return f
}

// adopt takes a path from an earlier layer, if commits and index have not changed it since:
// otherwise index or HEAD are newer than the file of the layer. It reports whether it did.
func (w *Files) adopt(layer *Files, path string) bool {
	t := layer.ByPath[path]
	if !t.Work || t.From != "" || w.Version(w.Snap.Base, path) != layer.Version(layer.Snap.Base, path) {
		return false
	}
	if w.isBelowNewer(layer, path) {
		return false
	}
	own := Target{Path: path}
	if w.ByPath[path] != nil {
		own = *w.ByPath[path]
	}
	switch lacksIndex := w.lacksEntry(path); {
	case lacksIndex && !own.Index && t.Index:
		own.Index, own.IndexBase, own.IndexWant = true, t.IndexBase, t.IndexWant
	case !lacksIndex && w.Entry(path) != layer.Entry(path):
		return false
	case !lacksIndex && !own.Index:
		own.Index, own.IndexBase, own.IndexWant = true, Merged(w.Entry(path)), Merged(w.Entry(path))
	}
	own.Work, own.Captured, own.From = true, t.Captured, layer.Snap.ID
	own.WorkBase, own.WorkWant = t.WorkBase, t.WorkWant
	w.ByPath[path] = &own
	return true
}

// lacksEntry reports whether the staged content of a path was left out.
func (w *Files) lacksEntry(path string) bool {
	return slices.ContainsFunc(w.States.Skipped, func(f checkpoint.Skipped) bool {
		return f.Class == checkpoint.InIndex && checkpoint.IsWithin(path, f.Path)
	})
}

// isBelowNewer reports whether the index has a file in place of a parent directory that the index
// of an earlier layer did not have.
func (w *Files) isBelowNewer(layer *Files, path string) bool {
	for i := range path {
		if path[i] != '/' {
			continue
		}
		if f := w.Entry(path[:i]); f != (Side{}) && f != layer.Entry(path[:i]) {
			return true
		}
	}
	return false
}

// FileAt returns the file that the worktree had at a path. ok is false if the snapshot does not
// know it.
func (w *Files) FileAt(path string) (f Side, ok bool) {
	if !w.Knows(path) {
		return Side{}, false
	}
	if t := w.ByPath[path]; t != nil && t.Work {
		return t.WorkWant, true
	}
	return w.Entry(path), true
}
